/** One memory in a list. */
import { useState } from "preact/hooks";
import { getSources } from "../../api/calls";
import type { Memory, Owner } from "../../api/types";
import { named, t, tn } from "../../i18n";
import { day, dayAndTime, moment } from "../../i18n/dates";
import { Button, classes } from "../../parts/button";
import { outlook, Tide } from "../../parts/freshness";
import { Icon } from "../../parts/icons";
import { Failure, Loading } from "../../parts/states";
import { Said } from "../../parts/text";
import { useLoad } from "../../state/load";
import { linkTo } from "../../state/router";
import { may } from "../../state/session";
import { changeView } from "./view";

export type Deed = "edit" | "pin" | "unpin" | "forget" | "restore";

export const PINNED = "pinned";

const TYPE_TAGS: readonly string[] = ["fact", "preference", "constraint", "procedural", "episodic", "semantic"];

/** The tags that say more than the type does. */
export function tellingTags(memory: Memory): string[] {
  return memory.tags.filter((tag) => !TYPE_TAGS.includes(tag));
}

interface RowProps {
  owner: Owner;
  memory: Memory;
  /** The day that is looked at; today unless given. */
  at?: Date;
  isChosen: boolean;
  onChoose: (isChosen: boolean) => void;
  onDeed: (deed: Deed, memory: Memory) => void;
}

export function Row({ owner, memory, at, isChosen, onChoose, onDeed }: RowProps) {
  const [isOpen, setOpen] = useState(false);
  const isOver = isEnded(memory, at ?? new Date());
  const isMerged = Boolean(memory.is_compressed || (memory.mentions ?? 1) > 1);
  return (
    <li class={classes("memory", isOver && "is-over", isChosen && "is-chosen")} data-memory={memory.id}>
      {may("write") ? (
        <input
          type="checkbox"
          checked={isChosen}
          aria-label={t("memory.choose", { text: short(memory.text) })}
          onChange={(event) => onChoose(event.currentTarget.checked)}
        />
      ) : (
        <span />
      )}
      <Tide memory={memory} at={at} />
      <div class="memory-body">
        <a class="memory-text" href={linkTo("memory", owner, [memory.id])}>
          <Said text={memory.text} />
        </a>
        <p class="meta">
          <span class={`kind type-${memory.type}`}>{named("type", memory.kind === "episode" ? "episode" : memory.type)}</span>
          {tellingTags(memory).map((tag) => <Tag key={tag} tag={tag} />)}
          <time dateTime={memory.created_at} title={dayAndTime(memory.created_at)}>
            {day(memory.created_at)}
          </time>
          {memory.stage && memory.stage !== "full" && <span class="note">{named("stage", memory.stage)}</span>}
          {isMerged && (
            <button type="button" class="inline" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
              <Icon name="merge" size={14} />
              {tn("memory.mentions", memory.mentions ?? 1)}
            </button>
          )}
          {memory.superseded_by && (
            <a class="inline" href={linkTo("memory", owner, [memory.id])}>
              <Icon name="conflict" size={14} />
              {t("memory.replaced")}
            </a>
          )}
        </p>
        {isOpen && <MergedFrom owner={owner} id={memory.id} />}
      </div>
      <p class="outlook">{outlook(memory, at)}</p>
      {may("write") && <Deeds memory={memory} onDeed={onDeed} />}
    </li>
  );
}

function Tag({ tag }: { tag: string }) {
  return (
    <button type="button" class="tag" onClick={() => changeView({ tag })}>
      <Said text={named("tag", tag)} cut={40} />
    </button>
  );
}

function Deeds({ memory, onDeed }: { memory: Memory; onDeed: RowProps["onDeed"] }) {
  const canRestore = Boolean(memory.deleted_at || memory.valid_to || memory.merged_into);
  const isPinned = memory.tags.includes(PINNED);
  const act = (deed: Deed) => () => onDeed(deed, memory);
  return (
    <div class="deeds">
      {canRestore && <Button small kind="quiet" icon="restore" label={t("action.restore")} onClick={act("restore")} />}
      {!canRestore && (
        <>
          {memory.kind !== "episode" && (
            <>
              <Button
                small
                kind="quiet"
                icon="pin"
                label={t(isPinned ? "action.unpin" : "action.pin")}
                pressed={isPinned}
                onClick={act(isPinned ? "unpin" : "pin")}
              />
              <Button small kind="quiet" icon="edit" label={t("action.edit")} onClick={act("edit")} />
            </>
          )}
          <Button small kind="quiet" icon="forget" label={t("action.forget")} onClick={act("forget")} />
        </>
      )}
    </div>
  );
}

function MergedFrom({ owner, id }: { owner: Owner; id: string }) {
  const told = useLoad(`sources ${id}`, (signal) => getSources(owner, id, signal));
  if (told.error) return <Failure error={told.error} />;
  if (!told.data) return <Loading rows={2} />;
  if (!told.data.sources.length) return <p class="hint">{t("memory.no_sources")}</p>;
  return (
    <ul class="folded">
      {told.data.sources.map((source) => (
        <li key={source.id}>
          <time dateTime={source.created_at}>{day(source.created_at)}</time>
          <Said text={source.text} cut={600} />
        </li>
      ))}
    </ul>
  );
}

export function isEnded(memory: Memory, at: Date): boolean {
  const end = moment(memory.valid_to);
  return Boolean(memory.deleted_at) || (end !== null && end <= at);
}

export function short(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
