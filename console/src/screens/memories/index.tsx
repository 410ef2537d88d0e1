/** What is remembered of one person. */
import { useState } from "preact/hooks";
import {
  forgetMemories,
  forgetMemory,
  getFacets,
  getTimeline,
  getMemory,
  listMemories,
  restoreMemory,
  updateMemory,
} from "../../api/calls";
import type { Memory, Owner } from "../../api/types";
import { t, tn } from "../../i18n";
import { endOfDay, relative } from "../../i18n/dates";
import { Button } from "../../parts/button";
import { More } from "../../parts/more";
import { PageHead } from "../../parts/page";
import { Empty, Failure, Loading } from "../../parts/states";
import { act, actOnEach, attempt } from "../../state/act";
import { useLoad, usePages } from "../../state/load";
import { may } from "../../state/session";
import { Tabs } from "../../parts/tabs";
import { Differences, ForecastList } from "./changes";
import { Add, Correct } from "./correct";
import { Filters } from "./filters";
import { MemoryList } from "./list";
import { PINNED, type Deed } from "./row";
import { TimeStrip } from "./time-strip";
import { asked, changeView, currentView, isNarrowed } from "./view";

const PAGE = 100;

export function Memories({ owner }: { owner: Owner }) {
  const view = currentView();
  const body = asked(view);
  const who = `${owner.kind} ${owner.name}`;
  const timeline = useLoad(`timeline ${who}`, (signal) => getTimeline(owner, signal));
  const facets = useLoad(`facets ${who}`, (signal) => getFacets(owner, signal));
  const pages = usePages(`memories ${who} ${JSON.stringify(body)}`, async (cursor, signal) => {
    const page = await listMemories(owner, { ...body, limit: PAGE, cursor }, signal);
    return { items: page.memories, next: page.next_cursor, total: page.total };
  });
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const picked = pages.items.filter((memory) => chosen.has(memory.id));
  const [edited, setEdited] = useState<Memory | null>(null);
  const [isAdding, setAdding] = useState(false);

  function choose(id: string, isChosen: boolean) {
    const next = new Set(chosen);
    if (isChosen) next.add(id);
    else next.delete(id);
    setChosen(next);
  }
  async function onDeed(deed: Deed, memory: Memory) {
    if (deed === "edit") setEdited(memory.text_length ? await attempt(getMemory(owner, memory.id)) : memory);
    else await act(owner, t(`toast.${deed}`), () => DEEDS[deed](owner, memory));
  }

  const lastAt = facets.data?.last_at;
  const list = (
    <>
      <Filters view={view} facets={facets.data} />
      {pages.error && <Failure error={pages.error} />}
      {!pages.items.length && pages.isLoading && <Loading rows={8} />}
      {!pages.items.length && !pages.isLoading && !pages.error && (
        <Empty title={t(isNarrowed(view) ? "memories.none_fit" : "memories.none")} />
      )}
      <MemoryList
        owner={owner}
        memories={pages.items}
        at={view.day ? new Date(endOfDay(view.day)) : undefined}
        layout={view.layout}
        chosen={chosen}
        onChoose={choose}
        onDeed={onDeed}
      />
      <More pages={pages} />
    </>
  );
  return (
    <>
      <PageHead
        owner={owner}
        title={t("memories.title")}
        about={about(pages.total, lastAt)}
        actions={
          may("write") && (
            <Button kind="primary" icon="add" onClick={() => setAdding(true)}>
              {t("add.action")}
            </Button>
          )
        }
      />
      <TimeStrip timeline={timeline.data} day={view.day} onDay={(day) => changeView({ day, tab: "" })} />
      {view.day ? (
        <Tabs label={t("days.tabs")} tabs={tabsOf(view.day)} current={view.tab} onChange={(tab) => changeView({ tab })}>
          {view.tab === "changes" ? <Changes owner={owner} day={view.day} /> : list}
        </Tabs>
      ) : (
        list
      )}
      {picked.length > 0 && (
        <Chosen
          owner={owner}
          memories={picked}
          onAll={picked.length < pages.items.length ? () => setChosen(new Set(pages.items.map(({ id }) => id))) : null}
          onDone={() => setChosen(new Set())}
        />
      )}
      {edited && <Correct owner={owner} memory={edited} onClose={() => setEdited(null)} />}
      {isAdding && <Add owner={owner} onClose={() => setAdding(false)} />}
    </>
  );
}

function isPast(day: string): boolean {
  return new Date(endOfDay(day)) < new Date();
}

function tabsOf(day: string) {
  const when = isPast(day) ? "past" : "future";
  return [
    { id: "", label: t(`days.list_${when}`) },
    { id: "changes", label: t(`days.changes_${when}`) },
  ];
}

function Changes({ owner, day }: { owner: Owner; day: string }) {
  return isPast(day) ? <Differences owner={owner} since={day} /> : <ForecastList owner={owner} by={day} />;
}

function about(total: number | null, lastAt: string | null | undefined): string {
  const parts = [total === null ? "" : tn("memories.count", total), lastAt ? t("memories.last", { when: relative(lastAt) }) : ""];
  return parts.filter(Boolean).join(" · ");
}

const DEEDS = {
  pin: (owner: Owner, memory: Memory) => updateMemory(owner, memory.id, { tags: [...memory.tags, PINNED] }),
  unpin: (owner: Owner, memory: Memory) =>
    updateMemory(owner, memory.id, { tags: memory.tags.filter((tag) => tag !== PINNED) }),
  forget: (owner: Owner, memory: Memory) => forgetMemory(owner, memory.id),
  restore: (owner: Owner, memory: Memory) => restoreMemory(owner, memory.id),
} as const;

interface ChosenProps {
  owner: Owner;
  memories: readonly Memory[];
  /** Null where all that is shown is selected. */
  onAll: (() => void) | null;
  onDone: () => void;
}

/** What can be done with several at once. */
function Chosen({ owner, memories, onAll, onDone }: ChosenProps) {
  const areOver = memories.some((memory) => memory.deleted_at || memory.valid_to);
  const ids = memories.map((memory) => memory.id);
  async function each(deed: "pin" | "restore") {
    const byId = new Map(memories.map((memory) => [memory.id, memory]));
    await actOnEach(
      owner,
      ids,
      (count) => tn(`toast.${deed}_many`, count),
      (id) => DEEDS[deed](owner, byId.get(id) as Memory),
    );
    onDone();
  }
  async function forget() {
    if (await act(owner, tn("toast.forget_many", ids.length), () => forgetMemories(owner, ids))) onDone();
  }
  return (
    <div class="chosen-bar" role="region" aria-label={t("chosen.label")}>
      <strong>{tn("chosen.count", memories.length)}</strong>
      {areOver ? (
        <Button icon="restore" onClick={() => each("restore")}>
          {t("action.restore")}
        </Button>
      ) : (
        <>
          <Button icon="pin" onClick={() => each("pin")}>
            {t("memory.pin")}
          </Button>
          <Button kind="danger" icon="forget" onClick={forget}>
            {t("action.forget")}
          </Button>
        </>
      )}
      {onAll && (
        <Button kind="quiet" icon="check" onClick={onAll}>
          {t("chosen.all")}
        </Button>
      )}
      <Button kind="quiet" icon="close" onClick={onDone}>
        {t("chosen.clear")}
      </Button>
    </div>
  );
}
