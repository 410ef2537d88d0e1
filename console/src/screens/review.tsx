/** What waits for a person's decision, one after another, with keys to decide. */
import { useEffect, useState } from "preact/hooks";
import { forgetMemories, forgetMemory, listMemories, updateMemory } from "../api/calls";
import { idsOf, part, read, send, userOf } from "../api/client";
import type { Changed, Memory, Owner } from "../api/types";
import { t, tn } from "../i18n";
import { day } from "../i18n/dates";
import { Button } from "../parts/button";
import { PageHead } from "../parts/page";
import { Empty, Failure, Loading } from "../parts/states";
import { Said } from "../parts/text";
import type { IconName } from "../parts/icons";
import { act } from "../state/act";
import { useLoad } from "../state/load";
import { linkTo } from "../state/router";
import { may } from "../state/session";
import { Correct } from "./memories/correct";

/** Tag of what somebody looked at and let stand. */
const REVIEWED = "reviewed";
const UNSURE_BELOW = 0.6;
const SHORT = 2_000;

type Why = "closes_many" | "quarantined" | "unsure" | "conflict";

interface Waiting {
  id: string;
  text: string;
  why: Why;
  at: string;
  /** The memories beside it: those that it would close, or that it disagrees with. */
  others: { id: string; text: string; at?: string }[];
  memory?: Memory;
}

interface Reviews {
  reviews: {
    id: string;
    memory: string;
    created_at: string;
    why: "closes_many" | "quarantined";
    would_close: { id: string; memory: string }[];
  }[];
}

interface Content {
  samples: Record<string, string[]>;
}

async function waiting(owner: Owner, signal: AbortSignal): Promise<Waiting[]> {
  const ids = idsOf(owner);
  const [reviews, unsure, content] = await Promise.all([
    read<Reviews>("/v1/reviews", { ...ids, limit: 100, max_text: SHORT }, signal),
    listMemories(owner, { filters: { confidence: { lt: UNSURE_BELOW } }, limit: 50 }, signal),
    read<Content>("/v1/content", ids, signal),
  ]);
  const disagreeing = content.samples.contradictions ?? [];
  const conflicts = disagreeing.length
    ? (await listMemories(owner, { filters: { id: { in: disagreeing } }, state: "all", limit: 100 }, signal)).memories
    : [];
  const open = (memory: Memory) => !memory.tags.includes(REVIEWED);
  return [
    ...reviews.reviews.map((item) => ({
      id: item.id,
      text: item.memory,
      why: item.why,
      at: item.created_at,
      others: item.would_close.map((other) => ({ id: other.id, text: other.memory })),
    })),
    ...groups(conflicts.filter(open)),
    ...unsure.memories.filter(open).map((memory) => ({
      id: memory.id,
      text: memory.text,
      why: "unsure" as const,
      at: memory.created_at,
      others: [],
      memory,
    })),
  ];
}

/** The memories of each property that disagree: the newest first, the others beside it. */
function groups(memories: readonly Memory[]): Waiting[] {
  const byAttribute = new Map<string, Memory[]>();
  for (const memory of memories) {
    const name = memory.attribute ?? "";
    byAttribute.set(name, [...(byAttribute.get(name) ?? []), memory]);
  }
  return [...byAttribute.values()].flatMap((group) => {
    const [newest, ...others] = group;
    if (!newest || !others.length) return [];
    const beside = others.map((other) => ({ id: other.id, text: other.text, at: other.created_at }));
    return [{ id: newest.id, text: newest.text, why: "conflict" as const, at: newest.created_at, others: beside, memory: newest }];
  });
}

export function Review({ owner }: { owner: Owner }) {
  const list = useLoad(`review ${owner.kind} ${owner.name}`, (signal) => waiting(owner, signal));
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(new Set());
  const items = list.data ?? [];
  const open = items.filter((item) => !skipped.has(item.id));
  const item = open[0];
  return (
    <>
      <PageHead owner={owner} title={t("review.title")} about={list.data ? tn("review.count", items.length) : t("review.about")} />
      {list.error && <Failure error={list.error} />}
      {!list.data && list.isLoading && <Loading rows={4} />}
      {list.data && !item && (
        <Empty title={t(items.length ? "review.all_skipped" : "review.none")}>
          {items.length > 0 && <Button onClick={() => setSkipped(new Set())}>{t("review.again")}</Button>}
        </Empty>
      )}
      {item && (
        <Card
          key={item.id}
          owner={owner}
          item={item}
          place={items.length - open.length + 1}
          count={items.length}
          onSkip={() => setSkipped(new Set([...skipped, item.id]))}
        />
      )}
    </>
  );
}

interface Choice {
  id: "accept" | "keep" | "correct" | "drop" | "skip";
  key: string;
  icon: IconName;
  kind?: "primary" | "danger";
  run: () => void;
}

interface CardProps {
  owner: Owner;
  item: Waiting;
  place: number;
  count: number;
  onSkip: () => void;
}

function Card({ owner, item, place, count, onSkip }: CardProps) {
  const [isCorrecting, setCorrecting] = useState(false);
  const choices = choicesFor(owner, item, { correct: () => setCorrecting(true), skip: onSkip });
  useEffect(() => {
    function press(event: KeyboardEvent) {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event.target)) return;
      const choice = choices.find((one) => one.key === event.key.toLowerCase());
      if (!choice) return;
      event.preventDefault();
      choice.run();
    }
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  });
  return (
    <article class="card review" data-why={item.why}>
      <p class="review-place">{t("review.place", { n: place, count })}</p>
      <h2>{t(`review.why_${item.why}`)}</h2>
      <p class="hint">{t(`review.hint_${item.why}`)}</p>
      <div class="side-by-side">
        <section>
          <h3>{t(item.others.length ? "review.new" : "review.said")}</h3>
          <p class="review-text">
            <Said text={item.text} cut={SHORT} />
          </p>
          <p class="meta">
            <time dateTime={item.at}>{day(item.at)}</time>
            {item.memory && <a href={linkTo("memory", owner, [item.id])}>{t("review.open")}</a>}
          </p>
        </section>
        {item.others.length > 0 && (
          <section>
            <h3>{t(item.why === "conflict" ? "review.older" : "review.would_close")}</h3>
            <ul class="review-others">
              {item.others.map((other) => (
                <li key={other.id}>
                  <a href={linkTo("memory", owner, [other.id])}>
                    <Said text={other.text} cut={600} />
                  </a>
                  {other.at && <time dateTime={other.at}>{day(other.at)}</time>}
                </li>
              ))}
            </ul>
          </section>
        )}
      </div>
      <div class="review-choices">
        {choices.map((choice) => (
          <Button key={choice.id} kind={choice.kind} icon={choice.icon} onClick={choice.run}>
            {t(`review.${choice.id}_${item.why}` as "review.accept_closes_many")} <kbd>{choice.key.toUpperCase()}</kbd>
          </Button>
        ))}
      </div>
      {isCorrecting && item.memory && <Correct owner={owner} memory={item.memory} onClose={() => setCorrecting(false)} />}
    </article>
  );
}

function choicesFor(owner: Owner, item: Waiting, on: { correct: () => void; skip: () => void }): Choice[] {
  const skip: Choice = { id: "skip", key: "s", icon: "open", run: on.skip };
  if (!may("write")) return [skip];
  const decide = (id: Choice["id"], change: () => Promise<Changed>) => () =>
    void act(owner, t(`review.done_${id}` as "review.done_keep"), change);
  const resolve = (decision: string) => () =>
    send<Changed>("POST", `/v1/reviews/${part(item.id)}`, { params: userOf(owner), body: { decision } });
  const stand = () => updateMemory(owner, item.id, { tags: [...(item.memory?.tags ?? []), REVIEWED] });
  const accept: Choice = { id: "accept", key: "a", icon: "check", kind: "primary", run: decide("accept", resolve("accept")) };
  const correct: Choice = { id: "correct", key: "c", icon: "edit", run: on.correct };
  switch (item.why) {
    case "closes_many":
      return [
        accept,
        { id: "keep", key: "k", icon: "pin", run: decide("keep", resolve("keep")) },
        { id: "drop", key: "d", icon: "forget", kind: "danger", run: decide("drop", resolve("drop")) },
        skip,
      ];
    case "quarantined":
      return [accept, { id: "drop", key: "d", icon: "forget", kind: "danger", run: decide("drop", resolve("drop")) }, skip];
    case "conflict": {
      const older = item.others.map((other) => other.id);
      return [
        { ...accept, run: decide("accept", () => forgetMemories(owner, older)) },
        { id: "keep", key: "k", icon: "pin", run: decide("keep", stand) },
        { id: "drop", key: "d", icon: "forget", kind: "danger", run: decide("drop", () => forgetMemory(owner, item.id)) },
        correct,
        skip,
      ];
    }
    default:
      return [
        { id: "keep", key: "k", icon: "check", kind: "primary", run: decide("keep", stand) },
        correct,
        { id: "drop", key: "d", icon: "forget", kind: "danger", run: decide("drop", () => forgetMemory(owner, item.id)) },
        skip,
      ];
  }
}

function isTyping(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.closest("input, textarea, select, dialog") !== null;
}
