/** How fresh a memory is, as a tide: full when it was just said, ebbing until it fades. */
import type { Freshness, Memory } from "../api/types";
import { percent, t } from "../i18n";
import { day, moment, relative } from "../i18n/dates";
import { me } from "../state/session";

export type Level = 0 | 1 | 2 | 3 | 4 | 5;

/** Below this retention a memory counts as faded, unless the service tells otherwise. */
const USUAL_LINE = 0.7;

/** At this retention nothing is left above the bottom of the tide. */
const BOTTOM = 0.35;

const BANDS: readonly [number, Level][] = [
  [0.95, 5],
  [0.85, 4],
  [0.7, 3],
  [0.6, 2],
  [0.5, 1],
];

export function fadeLine(): number {
  return me.value?.settings?.forgotten_below ?? USUAL_LINE;
}

export function hasFaded({ retention, never_fades }: Freshness): boolean {
  return !never_fades && retention < fadeLine();
}

export function levelOf(retention: number): Level {
  return BANDS.find(([least]) => retention >= least)?.[1] ?? 0;
}

/** `fades in 3 weeks`, in words. `at` is the day that is looked at. */
export function outlook(memory: Memory, at?: Date): string {
  const { freshness } = memory;
  if (memory.deleted_at) return t("fresh.forgotten", { when: relative(memory.deleted_at) });
  if (memory.valid_to && moment(memory.valid_to)! <= (at ?? new Date())) return t("fresh.closed", { day: day(memory.valid_to) });
  if (!freshness) return "";
  if (freshness.never_fades) return t("fresh.never");
  if (hasFaded(freshness)) return t("fresh.faded", { share: percent(freshness.retention) });
  return freshness.fades_at ? t("fresh.fades", { when: relative(freshness.fades_at, at) }) : percent(freshness.retention);
}

export function Tide({ memory, at }: { memory: Memory; at?: Date }) {
  const { freshness } = memory;
  if (!freshness) return <span class="tide fresh-none" aria-hidden="true" />;
  const { retention, never_fades } = freshness;
  const share = never_fades ? 1 : Math.max(0, (retention - BOTTOM) / (1 - BOTTOM));
  const name = never_fades ? "fresh-kept" : `fresh-${levelOf(retention)}`;
  return (
    <span class={`tide ${name}`} title={`${percent(retention)} · ${outlook(memory, at)}`}>
      <span class="tide-water" style={{ height: `${Math.round(share * 100)}%` }} />
    </span>
  );
}

/** What the colours mean. */
export function TideLegend() {
  return (
    <p class="tide-legend" aria-hidden="true">
      <span>{t("fresh.legend_fresh")}</span>
      {[5, 4, 3, 2, 1, 0].map((level) => (
        <span key={level} class={`swatch fresh-${level}`} />
      ))}
      <span>{t("fresh.legend_faded")}</span>
      <span class="swatch fresh-kept" />
      <span>{t("fresh.legend_kept")}</span>
    </p>
  );
}
