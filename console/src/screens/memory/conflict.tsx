/** Old and new side by side, where one cannot be true beside the other. */
import { explainMemory, listMemories } from "../../api/calls";
import type { Explained, Memory, Owner } from "../../api/types";
import { t } from "../../i18n";
import { day } from "../../i18n/dates";
import { reason as inWords } from "../../i18n/reasons";
import { Icon } from "../../parts/icons";
import { Said } from "../../parts/text";
import { useLoad } from "../../state/load";
import { linkTo } from "../../state/router";

/** How many closed memories are looked through for those that this one closed. */
const LOOKED_THROUGH = 200;

export function Conflict({ owner, memory }: { owner: Owner; memory: Explained }) {
  const by = memory.superseded_by;
  const newer = useLoad(`conflict ${by ?? ""}`, (signal) =>
    by ? explainMemory(owner, by, signal) : Promise.resolve(null),
  );
  const older = useLoad(`closed by ${memory.id}`, async (signal) => {
    const page = await listMemories(owner, { state: "ended", limit: LOOKED_THROUGH }, signal);
    return page.memories.filter((item) => item.superseded_by === memory.id);
  });
  return (
    <>
      {newer.data && <Pair owner={owner} older={memory} newer={newer.data} reason={reasonOf(memory, newer.data)} />}
      {older.data?.map((item) => (
        <Pair key={item.id} owner={owner} older={item} newer={memory} reason={reasonOf(item, memory)} />
      ))}
    </>
  );
}

/** What the history says of the day on which the old one was closed; else what the new one was stored for. */
function reasonOf(older: Memory & Partial<Explained>, newer: Explained): string | null {
  const closing = older.history?.findLast((entry) => entry.event === "SUPERSEDE" || entry.event === "DELETE");
  return closing?.reason ?? newer.provenance.reason;
}

interface PairProps {
  owner: Owner;
  older: Memory;
  newer: Memory;
  reason: string | null;
}

function Pair({ owner, older, newer, reason }: PairProps) {
  return (
    <section class="card conflict">
      <h2>
        <Icon name="conflict" />
        {t("conflict.title")}
      </h2>
      <div class="pair">
        <Side owner={owner} memory={older} title={t("conflict.old")} isOver />
        <Side owner={owner} memory={newer} title={t("conflict.new")} />
      </div>
      {reason && <p class="hint">{t("conflict.reason", { reason: inWords(reason) })}</p>}
    </section>
  );
}

function Side({ owner, memory, title, isOver }: { owner: Owner; memory: Memory; title: string; isOver?: boolean }) {
  return (
    <div class={isOver ? "side is-over" : "side"}>
      <h3>{title}</h3>
      <a class="memory-text" href={linkTo("memory", owner, [memory.id])}>
        <Said text={memory.text} cut={600} />
      </a>
      <p class="hint">
        {day(memory.valid_from ?? memory.created_at)} – {memory.valid_to ? day(memory.valid_to) : t("conflict.today")}
      </p>
    </div>
  );
}
