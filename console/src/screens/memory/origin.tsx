/** Where a memory comes from: the sentence, who said it, what read it, and why it was stored. */
import { getSources } from "../../api/calls";
import type { Explained, Owner } from "../../api/types";
import { named, t, tn } from "../../i18n";
import { day, dayAndTime } from "../../i18n/dates";
import { reason } from "../../i18n/reasons";
import { Failure, Loading } from "../../parts/states";
import { Said } from "../../parts/text";
import { useLoad } from "../../state/load";
import { linkTo } from "../../state/router";

export function Origin({ owner, memory }: { owner: Owner; memory: Explained }) {
  const { provenance } = memory;
  const sentence = provenance.source_text ?? memory.source_episodes?.[0]?.text;
  return (
    <section class="card">
      <h2>{t("origin.title")}</h2>
      {sentence && (
        <blockquote class="sentence">
          <Said text={sentence} />
          <footer>
            {memory.actor_id && <Said text={memory.actor_id} cut={60} />}
            {!memory.actor_id && memory.role && named("role", memory.role)}
            <time dateTime={memory.created_at}>{dayAndTime(memory.created_at)}</time>
          </footer>
        </blockquote>
      )}
      <dl class="facts">
        <dt>{t("origin.method")}</dt>
        <dd>
          {named("method", provenance.method)}
          {provenance.rule && <code>{provenance.rule}</code>}
        </dd>
        {provenance.reason && (
          <>
            <dt>{t("origin.reason")}</dt>
            <dd>{reason(provenance.reason)}</dd>
          </>
        )}
        {memory.run_id && (
          <>
            <dt>{t("filter.conversation")}</dt>
            <dd>
              <a href={linkTo("memories", owner, [], { conversation: memory.run_id })}>
                <Said text={memory.run_id} cut={60} />
              </a>
            </dd>
          </>
        )}
        {memory.trust && (
          <>
            <dt>{t("origin.trust")}</dt>
            <dd>{named("trust", memory.trust)}</dd>
          </>
        )}
      </dl>
      {(memory.is_compressed || (memory.mentions ?? 1) > 1) && <Merged owner={owner} id={memory.id} />}
    </section>
  );
}

function Merged({ owner, id }: { owner: Owner; id: string }) {
  const told = useLoad(`sources ${id}`, (signal) => getSources(owner, id, signal));
  if (told.error) return <Failure error={told.error} />;
  if (!told.data) return <Loading rows={2} />;
  if (!told.data.sources.length) return null;
  return (
    <details class="merged" open>
      <summary>{tn("origin.merged", told.data.sources.length)}</summary>
      <ul class="folded">
        {told.data.sources.map((source) => (
          <li key={source.id}>
            <time dateTime={source.created_at}>{day(source.created_at)}</time>
            <Said text={source.text} cut={2000} />
          </li>
        ))}
      </ul>
    </details>
  );
}
