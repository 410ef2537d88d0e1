/** Whether the service answers. When it comes back, what is on the screen is loaded anew. */
import { signal } from "@preact/signals";

const EVERY_MS = 2_000;

export const isGone = signal(false);

/** Rises whenever what is on the screen may be out of date. */
export const epoch = signal(0);

export function refresh(): void {
  epoch.value += 1;
}

let timer: ReturnType<typeof setTimeout> | undefined;

export function serviceIsGone(): void {
  if (isGone.value) return;
  isGone.value = true;
  timer = setTimeout(tryAgain, EVERY_MS);
}

function serviceIsBack(): void {
  if (!isGone.value) return;
  isGone.value = false;
  clearTimeout(timer);
  refresh();
}

async function tryAgain(): Promise<void> {
  try {
    const answer = await fetch("/healthz", { cache: "no-store" });
    if (answer.ok) return serviceIsBack();
  } catch {
    // Still gone.
  }
  timer = setTimeout(tryAgain, EVERY_MS);
}

export function watchService(): void {
  window.addEventListener("offline", serviceIsGone);
  window.addEventListener("online", () => void tryAgain());
}
