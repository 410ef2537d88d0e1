/** The end of a list: loads more when it comes into view, or at a press. */
import { useEffect, useRef } from "preact/hooks";
import { t } from "../i18n";
import type { Pages } from "../state/load";
import { Button } from "./button";

export function More({ pages }: { pages: Pages<unknown> }) {
  const end = useRef<HTMLDivElement>(null);
  const more = useRef(pages.more);
  more.current = pages.more;
  useEffect(() => {
    const element = end.current;
    if (!element) return;
    const watcher = new IntersectionObserver((seen) => seen.some((item) => item.isIntersecting) && more.current(), {
      rootMargin: "600px",
    });
    watcher.observe(element);
    return () => watcher.disconnect();
  }, [pages.hasMore, pages.items.length]);
  if (!pages.hasMore) return null;
  return (
    <div class="more" ref={end}>
      <Button onClick={pages.more} disabled={pages.isLoading}>
        {pages.isLoading ? t("state.loading") : t("action.more")}
      </Button>
    </div>
  );
}
