/** One slider over the days: back to what was believed, on to what will have faded. */
import { useEffect, useState } from "preact/hooks";
import type { Timeline } from "../../api/types";
import { t, tn } from "../../i18n";
import { day as dayText } from "../../i18n/dates";
import { Button } from "../../parts/button";
import { Input } from "../../parts/fields";
import { barsOf, dayAt, placeOf, spanOf, type Span } from "./days";

const WIDTH = 1000;
const HEIGHT = 46;
const MOST_BARS = 160;
const PAUSE_MS = 200;

interface StripProps {
  timeline: Timeline | null;
  /** `2025-05-10`; empty for today. */
  day: string;
  onDay: (day: string) => void;
}

export function TimeStrip({ timeline, day, onDay }: StripProps) {
  const [today] = useState(() => new Date());
  const span = spanOf(timeline, today);
  const [dragged, setDragged] = useState<number | null>(null);
  const place = dragged ?? placeOf(span, day);
  const isToday = place === span.now;
  useEffect(() => setDragged(null), [day]);
  useEffect(() => {
    if (dragged === null) return;
    const chosen = isToday ? "" : dayAt(span, dragged);
    const timer = setTimeout(() => (chosen === day ? setDragged(null) : onDay(chosen)), PAUSE_MS);
    return () => clearTimeout(timer);
  }, [dragged]);
  if (!timeline) return <div class="time-strip is-waiting" />;
  return (
    <section class="time-strip" aria-label={t("days.label")}>
      <header>
        <p class="time-day">
          <strong>{headline(span, place)}</strong>
          <span class="hint">{distance(span, place)}</span>
        </p>
        <Input
          label={t("days.date")}
          quiet
          type="date"
          value={dayAt(span, place)}
          min={dayAt(span, 0)}
          max={dayAt(span, span.length)}
          onInput={(value) => value && setDragged(placeOf(span, value))}
        />
        <Button disabled={isToday} onClick={() => setDragged(span.now)}>
          {t("days.today")}
        </Button>
      </header>
      <div class="time-track">
        <Histogram span={span} timeline={timeline} place={place} />
        <input
          type="range"
          min={0}
          max={span.length}
          value={place}
          aria-label={t("days.label")}
          aria-valuetext={headline(span, place)}
          onInput={(event) => setDragged(Number(event.currentTarget.value))}
        />
      </div>
      <div class="time-ends" aria-hidden="true">
        <span>{dayText(dayAt(span, 0))}</span>
        <span class="time-today" style={{ left: `${(span.now / span.length) * 100}%` }}>
          {t("days.today")}
        </span>
        <span>{dayText(dayAt(span, span.length))}</span>
      </div>
    </section>
  );
}

function headline(span: Span, place: number): string {
  const day = dayText(`${dayAt(span, place)}T12:00:00`);
  if (place === span.now) return t("days.now", { day });
  return t(place < span.now ? "days.past" : "days.future", { day });
}

function distance(span: Span, place: number): string {
  if (place === span.now) return t("days.hint");
  const days = Math.abs(place - span.now);
  return tn(place < span.now ? "days.ago" : "days.ahead", days);
}

function Histogram({ span, timeline, place }: { span: Span; timeline: Timeline | null; place: number }) {
  const bars = barsOf(span, timeline?.buckets ?? [], MOST_BARS);
  const most = Math.max(1, ...bars.map((bar) => Math.max(bar.added, bar.ended)));
  const middle = HEIGHT * 0.7;
  const scale = (value: number, room: number) => (value === 0 ? 0 : Math.max(2, Math.sqrt(value / most) * room));
  const today = (span.now / span.length) * WIDTH;
  const here = (place / span.length) * WIDTH;
  return (
    <svg class="histogram" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
      <rect class="future" x={today} y={0} width={WIDTH - today} height={HEIGHT} />
      <line class="axis" x1={0} x2={WIDTH} y1={middle} y2={middle} />
      {bars.map((bar) => {
        const x = bar.from * WIDTH;
        const width = Math.max(2.5, bar.width * WIDTH - 1.5);
        const up = scale(bar.added, middle);
        const down = scale(bar.ended, HEIGHT - middle);
        const isPast = x <= here;
        return (
          <g key={bar.from} class={isPast ? "passed" : "to-come"}>
            <rect class="added" x={x} y={middle - up} width={width} height={up} />
            <rect class="ended" x={x} y={middle} width={width} height={down} />
          </g>
        );
      })}
      <line class="today" x1={today} x2={today} y1={0} y2={HEIGHT} />
      <line class="here" x1={here} x2={here} y1={0} y2={HEIGHT} />
    </svg>
  );
}
