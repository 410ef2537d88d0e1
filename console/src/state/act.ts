/** Does what a button says: tells how it went, offers the way back, and loads the screen anew. */
import { ServiceError } from "../api/client";
import { undoChange } from "../api/calls";
import type { Changed, Owner } from "../api/types";
import { t, type Key } from "../i18n";
import { refresh } from "./connection";
import { notify } from "./toasts";

/** Returns whether it was done. */
export async function act(owner: Owner | null, done: string, change: () => Promise<Changed | null>): Promise<boolean> {
  try {
    const answer = await change();
    const id = answer?.change_id;
    notify(done, id && owner ? { undo: () => takeBack(owner, [id]) } : {});
    refresh();
    return true;
  } catch (error) {
    notify(sentence(error), { tone: "bad" });
    return false;
  }
}

/** Loads something at a press; null where that failed, and a note says so. */
export async function attempt<T>(loading: Promise<T>): Promise<T | null> {
  try {
    return await loading;
  } catch (error) {
    notify(sentence(error), { tone: "bad" });
    return null;
  }
}

/** Does the same to several, one after another. Those that are refused are counted in the note. */
export async function actOnEach(
  owner: Owner,
  ids: readonly string[],
  done: (count: number) => string,
  change: (id: string) => Promise<Changed>,
): Promise<void> {
  const changes: string[] = [];
  let first: unknown = null;
  for (const id of ids) {
    try {
      const { change_id: made } = await change(id);
      if (made) changes.push(made);
    } catch (error) {
      first ??= error;
    }
  }
  if (first !== null) notify(sentence(first), { tone: "bad" });
  if (changes.length) notify(done(changes.length), { undo: () => takeBack(owner, changes) });
  refresh();
}

async function takeBack(owner: Owner, changes: readonly string[]): Promise<void> {
  try {
    for (const id of [...changes].reverse()) await undoChange(owner, id);
    notify(t("toast.undone"));
  } catch (error) {
    notify(sentence(error), { tone: "bad" });
  }
  refresh();
}

/** What went wrong, and what to do, in words. */
export function sentence(error: unknown): string {
  if (!(error instanceof ServiceError)) return t("error.page");
  const known: Record<string, Key> = {
    unreachable: "error.unreachable",
    forbidden: "error.forbidden",
    rate_limited: "error.rate_limited",
    overloaded: "error.overloaded",
  };
  const key = known[error.code];
  return key ? t(key) : [error.message, error.hint].filter(Boolean).join(" ");
}
