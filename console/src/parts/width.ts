/** The width that an element has, so that what is drawn in it keeps the size of its letters. */
import { useEffect, useRef, useState } from "preact/hooks";

export function useWidth<T extends Element>(usual: number) {
  const element = useRef<T>(null);
  const [width, setWidth] = useState(usual);
  useEffect(() => {
    const watched = element.current;
    if (!watched) return;
    const watcher = new ResizeObserver(([entry]) => entry && setWidth(Math.max(240, Math.round(entry.contentRect.width))));
    watcher.observe(watched);
    return () => watcher.disconnect();
  }, []);
  return { element, width };
}
