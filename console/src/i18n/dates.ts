/** Times as people read them. */
import { locale, t } from "./index";

const DAY_MS = 86_400_000;

export function moment(text: string | null | undefined): Date | null {
  if (!text) return null;
  const at = new Date(text);
  return Number.isNaN(at.getTime()) ? null : at;
}

export function day(at: string | Date | null | undefined): string {
  const date = typeof at === "string" ? moment(at) : at;
  if (!date) return "–";
  return new Intl.DateTimeFormat(locale(), { year: "numeric", month: "short", day: "numeric" }).format(date);
}

export function dayAndTime(at: string | null | undefined): string {
  const date = moment(at);
  if (!date) return "–";
  return new Intl.DateTimeFormat(locale(), { dateStyle: "medium", timeStyle: "short" }).format(date);
}

export function month(at: string): string {
  const date = moment(at);
  return date ? new Intl.DateTimeFormat(locale(), { year: "numeric", month: "long" }).format(date) : "–";
}

/** `2025-03-04`, for inputs and addresses; in the reader's zone. */
export function isoDay(at: Date): string {
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${at.getFullYear()}-${pad(at.getMonth() + 1)}-${pad(at.getDate())}`;
}

/** The last moment of a day in the reader's zone, as the service takes it. */
export function endOfDay(text: string): string {
  return new Date(`${text}T23:59:59`).toISOString();
}

export function daysBetween(from: Date, to: Date): number {
  return (to.getTime() - from.getTime()) / DAY_MS;
}

export function plusDays(at: Date, days: number): Date {
  return new Date(at.getTime() + days * DAY_MS);
}

/** Unit, its days, and from how many of them on it is used: "18 months ago" says more than "last year". */
const UNITS: readonly [Intl.RelativeTimeFormatUnit, number, number][] = [
  ["year", 365.25, 2],
  ["month", 30.44, 2],
  ["week", 7, 2],
  ["day", 1, 1],
  ["hour", 1 / 24, 1],
  ["minute", 1 / 1440, 1],
];

/** `3 weeks ago`, `in 2 days`. */
export function relative(at: string | Date | null | undefined, now = new Date()): string {
  const date = typeof at === "string" ? moment(at) : at;
  if (!date) return t("time.never");
  const days = daysBetween(now, date);
  const format = new Intl.RelativeTimeFormat(locale(), { numeric: "auto" });
  for (const [unit, length, least] of UNITS) {
    if (Math.abs(days) >= length * least) return format.format(Math.trunc(days / length), unit);
  }
  return t("time.now");
}
