/** With what a question is asked. */
import type { AskBody } from "../../api/calls";
import { t } from "../../i18n";
import { endOfDay } from "../../i18n/dates";
import { Check, Input } from "../../parts/fields";

export interface Settings {
  top_k: string;
  threshold: string;
  precise: boolean;
  max_tokens: string;
  day: string;
}

export const USUAL: Settings = { top_k: "5", threshold: "", precise: false, max_tokens: "1000", day: "" };

/** What the second run has other than the first, until somebody chooses. */
export const SECOND: Settings = { ...USUAL, precise: true };

export function bodyOf(query: string, settings: Settings): AskBody {
  const threshold = Number.parseFloat(settings.threshold);
  return {
    query,
    top_k: whole(settings.top_k, 5, 1, 50),
    max_tokens: whole(settings.max_tokens, 1000, 50, 100_000),
    precise: settings.precise,
    ...(Number.isFinite(threshold) && { threshold: Math.min(1, Math.max(0, threshold)) }),
    ...(settings.day && { as_of: endOfDay(settings.day) }),
  };
}

function whole(text: string, usual: number, least: number, most: number): number {
  const value = Number.parseInt(text, 10);
  return Number.isFinite(value) ? Math.min(most, Math.max(least, value)) : usual;
}

interface PanelProps {
  title: string;
  settings: Settings;
  onChange: (settings: Settings) => void;
}

export function SettingsPanel({ title, settings, onChange }: PanelProps) {
  const set = (changes: Partial<Settings>) => onChange({ ...settings, ...changes });
  return (
    <fieldset class="run-settings">
      <legend>{title}</legend>
      <Input
        label={t("ask.top_k")}
        type="number"
        min={1}
        max={50}
        value={settings.top_k}
        onInput={(top_k) => set({ top_k })}
      />
      <Input
        label={t("ask.threshold")}
        type="number"
        min={0}
        max={1}
        step={0.05}
        placeholder={t("ask.none")}
        value={settings.threshold}
        onInput={(threshold) => set({ threshold })}
      />
      <Input
        label={t("ask.max_tokens")}
        type="number"
        min={50}
        step={50}
        value={settings.max_tokens}
        onInput={(max_tokens) => set({ max_tokens })}
      />
      <Input label={t("ask.day")} type="date" value={settings.day} onInput={(day) => set({ day })} />
      <Check label={t("ask.precise")} checked={settings.precise} onChange={(precise) => set({ precise })} />
    </fieldset>
  );
}
