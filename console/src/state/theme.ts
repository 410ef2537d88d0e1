/** Light or dark. Unless somebody chooses, it is what the system says. */
import { signal } from "@preact/signals";
import { remembered, remember } from "./storage";

export type Theme = "system" | "light" | "dark";

const THEMES: readonly Theme[] = ["system", "light", "dark"];
const KEY = "ebbing.theme";

export const theme = signal<Theme>(THEMES.find((name) => name === remembered(KEY)) ?? "system");

export function applyTheme(): void {
  document.documentElement.dataset.theme = theme.value;
}

export function setTheme(name: Theme): void {
  theme.value = name;
  remember(KEY, name);
  applyTheme();
}
