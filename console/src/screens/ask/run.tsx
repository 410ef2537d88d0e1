/** What one run found, what it left out, and what the model would see. */
import type { AskBody } from "../../api/calls";
import type { AskAnswer, Context, LeftOut, Owner } from "../../api/types";
import { number, t, tn } from "../../i18n";
import { Empty } from "../../parts/states";
import { Said } from "../../parts/text";
import { HitRow, LeftOutRow } from "./hit";

interface RunProps {
  owner: Owner;
  title: string;
  answer: AskAnswer;
  body: AskBody;
  /** Ids of what the other run found; null where there is none. */
  others: ReadonlySet<string> | null;
}

export function Run({ owner, title, answer, body, others }: RunProps) {
  const { memories, left_out: left } = answer;
  return (
    <section class="run" aria-label={title}>
      {others && <h2>{title}</h2>}
      <section>
        <h2 class="run-count">
          {tn("ask.found", memories.length)}
          {answer.search_ms !== undefined && <span class="hint"> {t("ask.took", { n: answer.search_ms })}</span>}
        </h2>
        {memories.length ? (
          <ol class="hits">
            {memories.map((hit, place) => (
              <HitRow
                key={hit.id}
                owner={owner}
                hit={hit}
                rank={place + 1}
                recallId={answer.recall_id}
                isAlone={others !== null && !others.has(hit.id)}
              />
            ))}
          </ol>
        ) : (
          <Empty title={t("ask.nothing")} />
        )}
      </section>
      <NotFound owner={owner} items={left} />
      {answer.context ? (
        <AsSeen context={answer.context} most={body.max_tokens} />
      ) : (
        body.as_of && <p class="hint">{t("ask.no_context")}</p>
      )}
    </section>
  );
}

function NotFound({ owner, items }: { owner: Owner; items: readonly LeftOut[] }) {
  if (!items.length) return null;
  return (
    <details class="not-found">
      <summary>{tn("ask.left_out", items.length)}</summary>
      <ol class="hits">
        {items.map((item) => (
          <LeftOutRow key={item.id} owner={owner} item={item} />
        ))}
      </ol>
    </details>
  );
}

function AsSeen({ context, most }: { context: Context; most: number }) {
  const share = Math.min(1, context.tokens / most);
  return (
    <section class="card as-seen">
      <header class="card-head">
        <h2>{t("ask.context")}</h2>
        <span class="hint">{t("ask.tokens", { n: context.tokens, most })}</span>
      </header>
      <div class="budget" role="meter" aria-label={t("ask.max_tokens")} aria-valuemin={0} aria-valuemax={most} aria-valuenow={context.tokens}>
        <span style={{ width: `${(share * 100).toFixed(1)}%` }} />
      </div>
      <p class="hint">
        {t("ask.groups", {
          profile: count(context, "profile"),
          relevant: count(context, "relevant"),
          recent: count(context, "recent"),
        })}
      </p>
      {context.context ? (
        <pre class="prompt" tabIndex={0}>
          <Said text={context.context} />
        </pre>
      ) : (
        <p>{t("ask.empty_context")}</p>
      )}
    </section>
  );
}

function count(context: Context, group: string): string {
  return number(context.memories.filter((memory) => memory.group === group).length);
}
