/** The service gives its reasons in English. Those that are known are shown in the reader's language. */
import en from "./en.json";
import { language, t, type Key } from "./index";

interface Known {
  key: Key;
  pattern: RegExp;
}

const PREFIX = "reason.";

const KNOWN: readonly Known[] = (Object.keys(en) as Key[])
  .filter((key) => key.startsWith(PREFIX))
  .map((key) => ({ key, pattern: patternOf(en[key]) }));

/** `it was said {n} times` fits `It was said 3 times.`, and gives `n`. */
function patternOf(text: string): RegExp {
  const literal = text.replace(/[.*+?^$()|[\]\\]/g, "\\$&").replace(/\{(\w+)\}/g, "(?<$1>.+?)");
  return new RegExp(`^${literal}\\.?$`, "i");
}

/** Reasons that stand one after another are parted by semicolons. */
export function reason(text: string): string {
  if (language.value === "en") return text;
  return text.split("; ").map(inWords).join("；");
}

function inWords(text: string): string {
  for (const { key, pattern } of KNOWN) {
    const found = pattern.exec(text);
    if (found) return t(key, found.groups ?? {});
  }
  return text;
}
