/** How a memory fades: its retention from the day it was said, through today, to some time ahead. */
import type { Retention } from "../../api/types";
import { named, percent, t, locale } from "../../i18n";
import { day, moment } from "../../i18n/dates";
import { useWidth } from "../../parts/width";

const HEIGHT = 240;
const EDGE = { top: 22, right: 16, bottom: 26, left: 42 };
const LOWEST = 0.3;
const MOST_USES = 6;

/** Signals after which the curve starts anew. */
const STRENGTHENING: readonly string[] = ["used", "up"];

type Point = readonly [x: number, y: number];

interface Scale {
  x: (seconds: number) => number;
  y: (retention: number) => number;
  from: number;
  to: number;
}

export function Curve({ told }: { told: Retention }) {
  const { element, width } = useWidth<HTMLDivElement>(720);
  const first = told.points[0];
  const last = told.points.at(-1);
  if (!first || !last) return <div ref={element} />;
  const scale = scaleOf(told, first[0], last[0], width);
  const now = secondsOf(told.now);
  const fades = told.freshness.never_fades ? null : secondsOf(told.freshness.fades_at);
  const all = told.points.map(([at, retention]): Point => [scale.x(at), scale.y(retention)]);
  const passed = told.points.filter(([at]) => at <= now).map(([at, retention]): Point => [scale.x(at), scale.y(retention)]);
  const nowPoint: Point = [scale.x(now), scale.y(retentionAt(told, now))];
  return (
    <div class="curve" ref={element}>
      <svg width={width} height={HEIGHT} role="img" aria-label={summary(told)}>
        <Grid scale={scale} width={width} line={told.forgotten_below} />
        <path class="area" d={`${path([...passed, nowPoint])}L${nowPoint[0]},${scale.y(LOWEST)}L${scale.x(first[0])},${scale.y(LOWEST)}Z`} />
        <path class="ahead" d={path(all.filter(([x]) => x >= nowPoint[0]), nowPoint)} />
        <path class="behind" d={path([...passed, nowPoint])} />
        <line class="now" x1={nowPoint[0]} x2={nowPoint[0]} y1={EDGE.top} y2={HEIGHT - EDGE.bottom} />
        <text class="now-label" x={Math.max(nowPoint[0], EDGE.left + 22)} y={EDGE.top - 7} text-anchor="middle">
          {t("days.today")}
        </text>
        {told.uses.map((use) => (
          <Use key={`${use.at} ${use.signal}`} use={use} told={told} scale={scale} />
        ))}
        {fades !== null && fades <= scale.to && <Fades at={fades} told={told} scale={scale} width={width} />}
        <circle class="dot" cx={nowPoint[0]} cy={nowPoint[1]} r={5} />
      </svg>
      {told.uses.length > 0 && <Uses uses={told.uses} />}
    </div>
  );
}

/** The last recalls in words: what is a point on the curve is a line here. */
function Uses({ uses }: { uses: Retention["uses"] }) {
  return (
    <ul class="uses">
      {uses
        .slice(-MOST_USES)
        .reverse()
        .map((use) => (
          <li key={`${use.at} ${use.signal}`}>
            <span class={STRENGTHENING.includes(use.signal) ? "use-dot" : "use-dot idle"} aria-hidden="true" />
            {named("signal", use.signal)} · <time dateTime={use.at}>{day(use.at)}</time>
          </li>
        ))}
    </ul>
  );
}

function summary(told: Retention): string {
  const { freshness } = told;
  const now = t("curve.summary", { share: percent(freshness.retention) });
  if (freshness.never_fades) return `${now} ${t("fresh.never")}`;
  return freshness.fades_at ? `${now} ${t("curve.fades_on", { day: day(freshness.fades_at) })}` : now;
}

function Fades({ at, told, scale, width }: { at: number; told: Retention; scale: Scale; width: number }) {
  const x = scale.x(at);
  const y = scale.y(told.forgotten_below);
  const isRight = x > width * 0.7;
  return (
    <g class="fades">
      <circle cx={x} cy={y} r={5} />
      <text x={isRight ? x - 10 : x + 10} y={y - 8} text-anchor={isRight ? "end" : "start"}>
        {t("curve.fades_on", { day: day(told.freshness.fades_at) })}
      </text>
    </g>
  );
}

function Use({ use, told, scale }: { use: Retention["uses"][number]; told: Retention; scale: Scale }) {
  const at = secondsOf(use.at);
  if (at < scale.from) return null;
  const isGood = STRENGTHENING.includes(use.signal);
  const height = isGood ? retentionAt(told, at + 1) : retentionAt(told, at);
  return (
    <circle class={isGood ? "use" : "use idle"} cx={scale.x(at)} cy={scale.y(height)} r={4.5}>
      <title>{`${named("signal", use.signal)} · ${day(use.at)}`}</title>
    </circle>
  );
}

function Grid({ scale, width, line }: { scale: Scale; width: number; line: number }) {
  return (
    <g class="grid">
      {[0.4, 0.6, 0.8, 1].map((value) => (
        <g key={value}>
          <line x1={EDGE.left} x2={width - EDGE.right} y1={scale.y(value)} y2={scale.y(value)} />
          <text x={EDGE.left - 8} y={scale.y(value) + 4} text-anchor="end">
            {percent(value)}
          </text>
        </g>
      ))}
      <line class="threshold" x1={EDGE.left} x2={width - EDGE.right} y1={scale.y(line)} y2={scale.y(line)} />
      {ticks(scale, width).map((tick) => (
        <text key={tick.at} x={scale.x(tick.at)} y={HEIGHT - 8} text-anchor="middle">
          {tick.label}
        </text>
      ))}
    </g>
  );
}

function scaleOf(told: Retention, from: number, to: number, width: number): Scale {
  const end = Math.max(to, secondsOf(told.now) + 1);
  const inner = width - EDGE.left - EDGE.right;
  const height = HEIGHT - EDGE.top - EDGE.bottom;
  return {
    x: (at) => EDGE.left + ((at - from) / (end - from)) * inner,
    y: (retention) => EDGE.top + ((1 - Math.max(LOWEST, retention)) / (1 - LOWEST)) * height,
    from,
    to: end,
  };
}

const STEPS = [1, 2, 3, 6, 12, 24, 60];

/** Firsts of months, as many as there is room for; single days where all of it is within some weeks. */
function ticks(scale: Scale, width: number): { at: number; label: string }[] {
  const most = Math.max(2, Math.floor(width / 110));
  const from = new Date(scale.from * 1000);
  const days = (scale.to - scale.from) / 86_400;
  const step = STEPS.find((months) => days / 30.4 / months <= most) ?? 120;
  const format = new Intl.DateTimeFormat(locale(), { month: "short", year: "numeric" });
  const made = [];
  for (let at = new Date(from.getFullYear(), 0, 1); at.getTime() / 1000 < scale.to; at.setMonth(at.getMonth() + step)) {
    const seconds = at.getTime() / 1000;
    const x = scale.x(seconds);
    if (x > EDGE.left + 24 && x < width - EDGE.right - 24) made.push({ at: seconds, label: format.format(at) });
  }
  return made;
}

function secondsOf(at: string | null | undefined): number {
  return (moment(at)?.getTime() ?? Number.NaN) / 1000;
}

function retentionAt(told: Retention, at: number): number {
  const next = told.points.findIndex(([seconds]) => seconds >= at);
  const after = told.points[next];
  const before = told.points[next - 1];
  if (!after) return told.points.at(-1)?.[1] ?? 0;
  if (!before) return after[1];
  const share = (at - before[0]) / (after[0] - before[0] || 1);
  return before[1] + share * (after[1] - before[1]);
}

function path(points: readonly Point[], start?: Point): string {
  const all = start ? [start, ...points] : points;
  return all.map(([x, y], place) => `${place ? "L" : "M"}${x.toFixed(1)},${y.toFixed(1)}`).join("");
}
