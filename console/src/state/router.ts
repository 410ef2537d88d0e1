/** Where the reader is. The place stands behind the `#` of the address, so the service serves one page. */
import { computed, signal } from "@preact/signals";
import type { Owner, OwnerKind } from "../api/types";

const hash = signal(location.hash);
window.addEventListener("hashchange", () => (hash.value = location.hash));

export interface Place {
  /** Whose memories are on the screen; null on screens about the whole service. */
  owner: Owner | null;
  screen: string;
  /** What follows the screen, such as the id of a memory. */
  rest: string[];
  query: URLSearchParams;
}

const KINDS: readonly string[] = ["user", "agent", "run"];

export const place = computed<Place>(() => read(hash.value));

/** The person that was last looked at: their screens stay in the navigation. */
export const lastOwner = signal<Owner | null>(null);

function read(text: string): Place {
  const [path = "", query = ""] = text.replace(/^#\/?/, "").split("?", 2);
  const parts = path.split("/").filter(Boolean).map(decode);
  const [first, kind, name, screen, ...rest] = parts;
  if (first === "of" && kind && name && KINDS.includes(kind)) {
    const owner = { kind: kind as OwnerKind, name };
    return { owner, screen: screen ?? "memories", rest, query: new URLSearchParams(query) };
  }
  return { owner: null, screen: first ?? "people", rest: parts.slice(1), query: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export type Query = Record<string, string | null | undefined>;

/** The address of a screen. */
export function linkTo(screen: string, owner: Owner | null = null, rest: string[] = [], query: Query = {}): string {
  const parts = owner ? ["of", owner.kind, owner.name, screen, ...rest] : [screen, ...rest];
  const given = Object.entries(query).filter((pair): pair is [string, string] => Boolean(pair[1]));
  const tail = given.length ? `?${new URLSearchParams(given).toString()}` : "";
  return `#/${parts.map(encodeURIComponent).join("/")}${tail}`;
}

export function goTo(address: string): void {
  location.hash = address;
}

/** Changes some of what stands behind the `?`, without a new step in the browser's history. */
export function setQuery(changes: Query): void {
  const { owner, screen, rest, query } = place.value;
  const next: Query = { ...Object.fromEntries(query), ...changes };
  const address = linkTo(screen, owner, rest, next);
  history.replaceState(null, "", address);
  hash.value = location.hash;
}

export function sameOwner(a: Owner | null, b: Owner | null): boolean {
  return a?.kind === b?.kind && a?.name === b?.name;
}
