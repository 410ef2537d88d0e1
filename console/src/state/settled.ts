/** What somebody typed, once they pause. */
import { useEffect, useState } from "preact/hooks";

const PAUSE_MS = 250;

export function useSettled(value: string, onSettle?: (value: string) => void): string {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    if (value === settled) return;
    const timer = setTimeout(() => {
      setSettled(value);
      onSettle?.(value);
    }, PAUSE_MS);
    return () => clearTimeout(timer);
  }, [value, settled]);
  return settled;
}
