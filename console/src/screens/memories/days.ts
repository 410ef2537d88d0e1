/** The days that the slider goes over: from the first memory to some time after today. */
import type { Bucket, Timeline } from "../../api/types";
import { daysBetween, isoDay, moment, plusDays } from "../../i18n/dates";

const LEAST_AHEAD = 180;
const MOST_AHEAD = 730;

export interface Span {
  first: Date;
  today: Date;
  /** Days from the first to the last that can be chosen. */
  length: number;
  /** Place of today among them. */
  now: number;
}

export function spanOf(timeline: Timeline | null, today: Date): Span {
  const first = startOf(moment(timeline?.first_at) ?? plusDays(today, -30));
  const now = Math.max(1, Math.round(daysBetween(first, startOf(today))));
  const ahead = Math.min(MOST_AHEAD, Math.max(LEAST_AHEAD, Math.round(now * 0.4)));
  return { first, today, length: now + ahead, now };
}

export function dayAt(span: Span, place: number): string {
  return isoDay(plusDays(span.first, place));
}

export function placeOf(span: Span, day: string): number {
  if (!day) return span.now;
  const at = Math.round(daysBetween(span.first, new Date(`${day}T00:00:00`)));
  return Math.min(span.length, Math.max(0, at));
}

function startOf(at: Date): Date {
  // Noon, so that a day more or less is never lost to summer time.
  return new Date(at.getFullYear(), at.getMonth(), at.getDate(), 12);
}

export interface Bar {
  /** From 0 to 1 along the strip. */
  from: number;
  width: number;
  added: number;
  ended: number;
}

/** What was added and what ended, in at most so many bars. */
export function barsOf(span: Span, buckets: readonly Bucket[], most: number): Bar[] {
  const size = Math.max(1, Math.ceil(span.length / most));
  const bars = new Map<number, Bar>();
  for (const bucket of buckets) {
    const at = moment(`${bucket.at}T12:00:00`.slice(0, 19));
    if (!at) continue;
    const slot = Math.floor(Math.max(0, daysBetween(span.first, at) + 0.5) / size);
    const bar = bars.get(slot) ?? { from: (slot * size) / span.length, width: size / span.length, added: 0, ended: 0 };
    bar.added += bucket.added;
    bar.ended += bucket.ended + bucket.gone;
    bars.set(slot, bar);
  }
  return [...bars.values()].filter((bar) => bar.from < 1);
}
