/** Every decision about a memory, the newest first. */
import type { HistoryEntry } from "../../api/types";
import { named, t } from "../../i18n";
import { dayAndTime } from "../../i18n/dates";
import { reason } from "../../i18n/reasons";
import { Said } from "../../parts/text";

export function History({ entries }: { entries: readonly HistoryEntry[] }) {
  return (
    <section class="card">
      <h2>{t("history.title")}</h2>
      <ol class="history">
        {[...entries].reverse().map((entry) => (
          <li key={entry.id}>
            <p>
              <span class={`event event-${entry.event.toLowerCase()}`}>{named("event", entry.event)}</span>
              <time>{dayAndTime(entry.updated_at ?? entry.created_at)}</time>
            </p>
            {entry.old_memory && entry.new_memory && entry.old_memory !== entry.new_memory && (
              <>
                <p class="before">
                  <Said text={entry.old_memory} cut={400} />
                </p>
                <p>
                  <Said text={entry.new_memory} cut={400} />
                </p>
              </>
            )}
            {entry.reason && <p class="hint">{reason(entry.reason)}</p>}
          </li>
        ))}
      </ol>
    </section>
  );
}
