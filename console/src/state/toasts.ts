/** Short notes about what was just done, with a way back where there is one. */
import { signal } from "@preact/signals";

const SECONDS = 8;

export interface Toast {
  id: number;
  text: string;
  tone: "good" | "bad";
  undo?: () => Promise<void>;
}

export const toasts = signal<Toast[]>([]);

let last = 0;

export function notify(text: string, options: { tone?: Toast["tone"]; undo?: () => Promise<void> } = {}): void {
  last += 1;
  const toast: Toast = { id: last, text, tone: options.tone ?? "good", undo: options.undo };
  toasts.value = [...toasts.value.slice(-2), toast];
  setTimeout(() => dismiss(toast.id), SECONDS * 1000);
}

export function dismiss(id: number): void {
  toasts.value = toasts.value.filter((toast) => toast.id !== id);
}
