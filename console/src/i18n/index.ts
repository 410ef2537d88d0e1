/** The words of the console. Each language is one file, and both have the same keys. */
import { signal } from "@preact/signals";
import { remember, remembered } from "../state/storage";
import en from "./en.json";
import zh from "./zh.json";

export type Language = "en" | "zh";
export type Key = keyof typeof en;

/** Keys with a count come in two forms, `.one` and `.other`. */
type Stem<K> = K extends `${infer S}.other` ? S : never;
export type CountKey = Stem<Key>;

const WORDS: Record<Language, Record<Key, string>> = { en, zh };
const KEY = "ebbing.language";

function chosen(): Language {
  const kept = remembered(KEY);
  if (kept === "en" || kept === "zh") return kept;
  return navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
}

export const language = signal<Language>(chosen());
document.documentElement.lang = locale();

export function locale(): string {
  return language.value === "zh" ? "zh-CN" : "en-GB";
}

export function setLanguage(name: Language): void {
  language.value = name;
  remember(KEY, name);
  document.documentElement.lang = locale();
}

export type Values = Record<string, string | number>;

export function t(key: Key, values: Values = {}): string {
  return WORDS[language.value][key].replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = values[name];
    return value === undefined ? whole : typeof value === "number" ? number(value) : value;
  });
}

/** A sentence with a count `n`. */
export function tn(key: CountKey, n: number, values: Values = {}): string {
  const form = new Intl.PluralRules(locale()).select(n) === "one" ? "one" : "other";
  return t(`${key}.${form}` as Key, { n, ...values });
}

/** The words for a name of the service, such as a type; the name itself where there are none. */
export function named(group: string, name: string): string {
  const key = `${group}.${name}`;
  return key in WORDS.en ? t(key as Key) : name.replaceAll("_", " ");
}

export function number(value: number, digits = 0): string {
  return new Intl.NumberFormat(locale(), { maximumFractionDigits: digits }).format(value);
}

export function percent(share: number): string {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumFractionDigits: 0 }).format(share);
}
