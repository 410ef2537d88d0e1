/** One memory: where it comes from, what happened to it, and how it fades. */
import { useState } from "preact/hooks";
import { explainMemory, forgetMemory, getMemory, getRetention, restoreMemory, updateMemory } from "../../api/calls";
import type { Explained, Memory, Owner, Retention } from "../../api/types";
import { locale, named, number, percent, t, tn } from "../../i18n";
import { day, relative } from "../../i18n/dates";
import { Button } from "../../parts/button";
import { hasFaded } from "../../parts/freshness";
import { PageHead } from "../../parts/page";
import { Empty, Failure, Loading } from "../../parts/states";
import { Segments } from "../../parts/tabs";
import { Said } from "../../parts/text";
import { act, attempt } from "../../state/act";
import { useLoad } from "../../state/load";
import { linkTo, place } from "../../state/router";
import { may } from "../../state/session";
import { Correct } from "../memories/correct";
import { isEnded, PINNED, tellingTags } from "../memories/row";
import { Conflict } from "./conflict";
import { Curve } from "./curve";
import { History } from "./history";
import { NeighbourList } from "./neighbours";
import { Origin } from "./origin";

const AHEAD = [90, 365, 1095] as const;

export function OneMemory({ owner }: { owner: Owner }) {
  const id = place.value.rest[0] ?? "";
  const told = useLoad(`memory ${id}`, (signal) => explainMemory(owner, id, signal));
  if (told.error?.status === 404) {
    return (
      <>
        <PageHead owner={owner} title={t("memory.title")} />
        <Empty title={t("memory.unknown")}>
          <a href={linkTo("memories", owner)}>{t("memories.title")}</a>
        </Empty>
      </>
    );
  }
  if (told.error) return <Failure error={told.error} retry={told.reload} />;
  if (!told.data) return <Loading />;
  return <Loaded key={id} owner={owner} memory={told.data} />;
}

function Loaded({ owner, memory }: { owner: Owner; memory: Explained }) {
  const [edited, setEdited] = useState<Memory | null>(null);
  const [whole, setWhole] = useState<string | null>(null);
  const loadWhole = () => attempt(getMemory(owner, memory.id));
  const edit = async () => setEdited(memory.text_length ? await loadWhole() : memory);
  return (
    <article class="one-memory">
      <PageHead owner={owner} title={t("memory.title")} actions={<Deeds owner={owner} memory={memory} onEdit={edit} />} />
      <div class={isEnded(memory, new Date()) ? "hero is-over" : "hero"}>
        <p class="hero-text">
          <Said text={whole ?? memory.text} />
        </p>
        {memory.text_length && whole === null && (
          <Button small onClick={async () => setWhole((await loadWhole())?.text ?? null)}>
            {t("memory.show_all", { n: memory.text_length })}
          </Button>
        )}
        <p class="meta">
          <span class={`kind type-${memory.type}`}>{named("type", memory.kind === "episode" ? "episode" : memory.type)}</span>
          {tellingTags(memory).map((tag) => (
            <a key={tag} class="tag" href={linkTo("memories", owner, [], { tag })}>
              <Said text={named("tag", tag)} cut={40} />
            </a>
          ))}
          <time dateTime={memory.created_at}>{day(memory.created_at)}</time>
          {(memory.mentions ?? 1) > 1 && <span>{tn("memory.mentions", memory.mentions ?? 1)}</span>}
          <span class="standing">{standing(memory)}</span>
        </p>
      </div>
      <Fading owner={owner} memory={memory} />
      <Conflict owner={owner} memory={memory} />
      <div class="columns">
        <Origin owner={owner} memory={memory} />
        <History entries={memory.history} />
      </div>
      <NeighbourList owner={owner} id={memory.id} />
      {edited && <Correct owner={owner} memory={edited} onClose={() => setEdited(null)} />}
    </article>
  );
}

function standing(memory: Explained): string {
  if (memory.deleted_at) return t("fresh.forgotten", { when: relative(memory.deleted_at) });
  if (memory.valid_to) return t("fresh.closed", { day: day(memory.valid_to) });
  return "";
}

function Deeds({ owner, memory, onEdit }: { owner: Owner; memory: Explained; onEdit: () => void }) {
  if (!may("write")) return null;
  const isPinned = memory.tags.includes(PINNED);
  const tags = isPinned ? memory.tags.filter((tag) => tag !== PINNED) : [...memory.tags, PINNED];
  if (isEnded(memory, new Date()) || memory.merged_into) {
    return (
      <Button icon="restore" onClick={() => act(owner, t("toast.restore"), () => restoreMemory(owner, memory.id))}>
        {t("action.restore")}
      </Button>
    );
  }
  return (
    <>
      {memory.kind !== "episode" && (
        <>
          <Button
            icon="pin"
            pressed={isPinned}
            onClick={() =>
              act(owner, t(isPinned ? "toast.unpin" : "toast.pin"), () => updateMemory(owner, memory.id, { tags }))
            }
          >
            {t(isPinned ? "memory.unpin" : "memory.pin")}
          </Button>
          <Button icon="edit" onClick={onEdit}>
            {t("action.edit")}
          </Button>
        </>
      )}
      <Button icon="forget" onClick={() => act(owner, t("toast.forget"), () => forgetMemory(owner, memory.id))}>
        {t("action.forget")}
      </Button>
    </>
  );
}

function Fading({ owner, memory }: { owner: Owner; memory: Explained }) {
  const [ahead, setAhead] = useState<number>(AHEAD[1]);
  const told = useLoad(`retention ${memory.id} ${ahead}`, (signal) => getRetention(owner, memory.id, ahead, signal));
  return (
    <section class="card fading">
      <header class="card-head">
        <h2>{t("curve.title")}</h2>
        <Segments
          label={t("curve.ahead")}
          value={String(ahead)}
          choices={AHEAD.map((days) => ({ value: String(days), label: t(`curve.days_${days}`) }))}
          onChange={(value) => setAhead(Number(value))}
        />
      </header>
      {told.error && <Failure error={told.error} retry={told.reload} />}
      {told.data ? (
        <>
          <Figures told={told.data} memory={memory} />
          <Curve told={told.data} />
          <p class="hint">{t("curve.hint", { line: percent(told.data.forgotten_below) })}</p>
        </>
      ) : (
        !told.error && <div class="curve-space" />
      )}
    </section>
  );
}

function Figures({ told, memory }: { told: Retention; memory: Explained }) {
  const { freshness } = told;
  const chance = memory.usage_probability;
  return (
    <dl class="figures">
      <Figure name={t("curve.now")} value={percent(freshness.retention)} />
      {freshness.never_fades ? (
        <Figure name={t("curve.fading")} value={t("fresh.never")} />
      ) : (
        <Figure
          name={t(hasFaded(freshness) ? "curve.faded_on" : "curve.will_fade")}
          value={freshness.fades_at ? day(freshness.fades_at) : t("time.never")}
          more={freshness.fades_at ? relative(freshness.fades_at) : undefined}
        />
      )}
      {freshness.stability_days !== undefined && !freshness.never_fades && (
        <Figure name={t("curve.stability")} value={tn("curve.days", Math.round(freshness.stability_days))} />
      )}
      <Figure
        name={t("curve.uses")}
        value={number(memory.access_count)}
        more={memory.last_accessed_at ? relative(memory.last_accessed_at) : undefined}
      />
      {chance && (
        <Figure name={tn("curve.chance", chance.horizon_days)} value={small(chance.probability)} />
      )}
    </dl>
  );
}

function Figure({ name, value, more }: { name: string; value: string; more?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        {more && <span class="hint">{more}</span>}
      </dd>
    </div>
  );
}

function small(share: number): string {
  return new Intl.NumberFormat(locale(), { style: "percent", maximumSignificantDigits: 2 }).format(share);
}
