/** How fresh a memory is, as a tide: full when it was just said, ebbing until it fades. */
import type { Freshness, Memory } from "../api/types";
import { percent, t } from "../i18n";
import { day, relative } from "../i18n/dates";
import { me } from "../state/session";
import { Icon } from "./icons";

/** Below this retention a memory has faded, unless the service tells otherwise. */
const USUAL_LINE = 0.7;

export type Level = 0 | 1 | 2 | 3 | 4 | 5;

/** What is left above the line at which a memory fades, from 0 to 1. */
export function shareLeft({ retention, never_fades }: Freshness): number {
  if (never_fades) return 1;
  const line = me.value?.settings?.forgotten_below ?? USUAL_LINE;
  return Math.min(1, Math.max(0, (retention - line) / (1 - line)));
}

export function levelOf(freshness: Freshness | undefined): Level {
  if (!freshness) return 3;
  return Math.ceil(shareLeft(freshness) * 5) as Level;
}

/** `fades in 3 weeks`, in words. */
export function outlook(memory: Memory): string {
  const { freshness } = memory;
  if (memory.deleted_at) return t("fresh.forgotten", { when: relative(memory.deleted_at) });
  if (memory.valid_to) return t("fresh.closed", { day: day(memory.valid_to) });
  if (!freshness) return "";
  if (freshness.never_fades) return t("fresh.never");
  if (shareLeft(freshness) === 0) return t("fresh.faded");
  return freshness.fades_at ? t("fresh.fades", { when: relative(freshness.fades_at) }) : percent(freshness.retention);
}

export function Tide({ memory }: { memory: Memory }) {
  const { freshness } = memory;
  if (!freshness) return <span class="tide fresh-none" aria-hidden="true" />;
  const share = Math.round(shareLeft(freshness) * 100);
  const name = freshness.never_fades ? "fresh-kept" : `fresh-${levelOf(freshness)}`;
  return (
    <span class={`tide ${name}`} title={`${percent(freshness.retention)} · ${outlook(memory)}`}>
      <span class="tide-water" style={{ height: `${share}%` }} />
      {freshness.never_fades && <Icon name="pin" size={12} />}
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
