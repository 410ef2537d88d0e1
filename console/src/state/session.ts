/** Who calls. The key stays in the session storage of this tab and goes nowhere but to the service. */
import { signal } from "@preact/signals";
import type { Me, Role } from "../api/types";

const KEY = "ebbing.key";

export const apiKey = signal<string | null>(sessionStorage.getItem(KEY));

/** Null until the service has told who calls, or while nobody is signed in. */
export const me = signal<Me | null>(null);

/** What the sign-in page says; null where nothing went wrong. */
export const refusal = signal<"wrong_key" | "ended" | null>(null);

export function keepKey(key: string | null): void {
  apiKey.value = key;
  if (key === null) sessionStorage.removeItem(KEY);
  else sessionStorage.setItem(KEY, key);
}

export function signOut(reason: typeof refusal.value = null): void {
  keepKey(null);
  me.value = null;
  refusal.value = reason;
}

const RANK: Record<Role, number> = { read: 0, write: 1, admin: 2 };

/** Whether the screens offer this. The service decides all the same. */
export function may(role: Role): boolean {
  return me.value !== null && RANK[me.value.role] >= RANK[role];
}

/** Whether the caller may look after the whole tenant. */
export function mayRunTenant(): boolean {
  return may("admin") && me.value?.user_id == null;
}
