/** Who and what somebody's memories are about. It is loaded as it is opened: first the person and what is next to them. */
import { useMemo, useState } from "preact/hooks";
import { idsOf, read } from "../../api/client";
import type { Entity, Owner, Relation } from "../../api/types";
import { named, t, tn } from "../../i18n";
import { day } from "../../i18n/dates";
import { Button, classes } from "../../parts/button";
import { Check } from "../../parts/fields";
import { PageHead } from "../../parts/page";
import { Empty, Failure, Loading } from "../../parts/states";
import { Said } from "../../parts/text";
import { useLoad } from "../../state/load";
import { linkTo } from "../../state/router";
import { layout, type Point } from "./layout";

const SELF = "self";
/** Relations that are loaded at a time. */
const AT_ONCE = 60;
/** Points that a picture can hold so that it can still be read. */
const MOST_POINTS = 80;
const LONGEST_LABEL = 22;
const MARGIN = 70;

interface Answer {
  entities: Entity[];
  relations: Relation[];
  truncated: boolean;
}

export function Graph({ owner }: { owner: Owner }) {
  const [opened, setOpened] = useState<readonly string[]>([]);
  const [withEnded, setWithEnded] = useState(false);
  const [chosen, setChosen] = useState(SELF);
  const who = `${owner.kind} ${owner.name}`;
  const graph = useLoad(`graph ${who} ${withEnded} ${opened.join("\n")}`, (signal) =>
    loadAll(owner, opened, withEnded, signal),
  );
  const found = graph.data;
  const entity = found?.entities.find((item) => item.id === chosen) ?? found?.entities[0];
  return (
    <>
      <PageHead
        owner={owner}
        title={t("graph.title")}
        about={found ? tn("graph.count", found.relations.length) : t("graph.about")}
        actions={<Check label={t("graph.ended")} checked={withEnded} onChange={setWithEnded} />}
      />
      {graph.error && <Failure error={graph.error} />}
      {!found && graph.isLoading && <Loading rows={6} />}
      {found && !found.relations.length && <Empty title={t("graph.none")}>{t("graph.none_hint")}</Empty>}
      {found && entity && found.relations.length > 0 && (
        <div class="graph">
          <div>
            <Picture answer={found} chosen={entity.id} onChoose={setChosen} />
            {found.truncated && <p class="hint">{t("graph.truncated", { n: MOST_POINTS })}</p>}
          </div>
          <About
            owner={owner}
            entity={entity}
            answer={found}
            isOpened={opened.includes(entity.name) || entity.id === SELF}
            onOpen={() => setOpened([...opened, entity.name])}
            onChoose={setChosen}
          />
        </div>
      )}
    </>
  );
}

async function loadAll(owner: Owner, opened: readonly string[], withEnded: boolean, signal: AbortSignal): Promise<Answer> {
  const load = (about: string | null) =>
    read<Answer>("/v1/graph", { ...idsOf(owner), about, include_ended: withEnded, limit: AT_ONCE }, signal);
  const answers = await Promise.all([load(null), ...opened.map(load)]);
  const entities = new Map(answers.flatMap((answer) => answer.entities).map((item) => [item.id, item]));
  const relations = new Map(answers.flatMap((answer) => answer.relations).map((item) => [keyOf(item), item]));
  const shown = new Set([...entities.keys()].slice(0, MOST_POINTS));
  return {
    entities: [...entities.values()].filter((item) => shown.has(item.id)),
    relations: [...relations.values()].filter((item) => shown.has(item.subject) && shown.has(item.object)),
    truncated: entities.size > shown.size || answers.some((answer) => answer.truncated),
  };
}

function keyOf(relation: Relation): string {
  return [relation.subject, relation.relation, relation.object, relation.memory_id].join("\n");
}

interface PictureProps {
  answer: Answer;
  chosen: string;
  onChoose: (id: string) => void;
}

function Picture({ answer, chosen, onChoose }: PictureProps) {
  const points = useMemo(() => {
    const edges = answer.relations.map((item) => ({ from: item.subject, to: item.object }));
    return layout(answer.entities.map((item) => item.id), edges, SELF);
  }, [answer]);
  const byId = new Map(points.map((point) => [point.id, point]));
  const names = new Map(answer.entities.map((item) => [item.id, item]));
  const near = new Set(answer.relations.filter((item) => touches(item, chosen)).flatMap((item) => [item.subject, item.object]));
  return (
    <svg class="graph-picture" viewBox={frameOf(points)} role="group" aria-label={t("graph.picture")}>
      {answer.relations.map((relation) => {
        const from = byId.get(relation.subject);
        const to = byId.get(relation.object);
        if (!from || !to) return null;
        const isNear = touches(relation, chosen);
        return (
          <g key={keyOf(relation)} class={classes("edge", isNear && "is-near", relation.until && "is-over")} aria-hidden="true">
            <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} />
            {isNear && (
              <text {...placeOf(relation.subject === chosen ? from : to, relation.subject === chosen ? to : from)}>
                {cut(named("attribute", relation.relation))}
              </text>
            )}
          </g>
        );
      })}
      {points.map((point) => {
        const entity = names.get(point.id);
        const name = entity?.name ?? point.id;
        return (
          <g
            key={point.id}
            class={classes("point", `point-${entity?.kind}`, point.id === chosen && "is-chosen", near.has(point.id) && "is-near")}
            role="button"
            tabindex={0}
            aria-pressed={point.id === chosen}
            aria-label={name}
            onClick={() => onChoose(point.id)}
            onKeyDown={(event) => (event.key === "Enter" || event.key === " ") && (event.preventDefault(), onChoose(point.id))}
          >
            <circle cx={point.x} cy={point.y} r={point.id === SELF ? 11 : 7} />
            <text x={point.x} y={point.y + (point.id === SELF ? 25 : 20)}>
              {cut(name)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** Where the words of a relation stand: nearer to the far end, since many begin at the one that is chosen. */
function placeOf(near: Point, far: Point): { x: number; y: number } {
  return { x: near.x + (far.x - near.x) * 0.58, y: near.y + (far.y - near.y) * 0.58 - 3 };
}

function touches(relation: Relation, id: string): boolean {
  return relation.subject === id || relation.object === id;
}

function cut(name: string): string {
  return name.length > LONGEST_LABEL ? `${name.slice(0, LONGEST_LABEL)}…` : name;
}

function frameOf(points: readonly Point[]): string {
  const xs = points.map((point) => point.x);
  const ys = points.map((point) => point.y);
  const left = Math.min(...xs) - MARGIN;
  const top = Math.min(...ys) - MARGIN / 2;
  return [left, top, Math.max(...xs) + MARGIN - left, Math.max(...ys) + MARGIN / 2 - top].map(Math.round).join(" ");
}

/** The newest of those that say the same. */
function withoutRepeats(relations: readonly Relation[]): Relation[] {
  const first = new Map<string, Relation>();
  for (const item of relations) {
    const said = [item.subject, item.relation, item.object, item.until !== null].join("\n");
    if (!first.has(said)) first.set(said, item);
  }
  return [...first.values()];
}

interface AboutProps {
  owner: Owner;
  entity: Entity;
  answer: Answer;
  isOpened: boolean;
  onOpen: () => void;
  onChoose: (id: string) => void;
}

/** The same in words: what is chosen, and how it is related. */
function About({ owner, entity, answer, isOpened, onOpen, onChoose }: AboutProps) {
  const names = new Map(answer.entities.map((item) => [item.id, item.name]));
  const relations = withoutRepeats(answer.relations.filter((item) => touches(item, entity.id)));
  return (
    <section class="card graph-about" aria-live="polite">
      <h2>
        <Said text={entity.name} cut={80} />
      </h2>
      <p class="meta">
        <span>{named("entity", entity.kind)}</span>
        {(entity.aliases ?? []).length > 0 && <Said text={(entity.aliases ?? []).slice(0, 6).join(", ")} cut={120} />}
      </p>
      {!isOpened && (
        <Button small icon="add" onClick={onOpen}>
          {t("graph.open")}
        </Button>
      )}
      <ul class="relations">
        {relations.map((item) => {
          const other = item.subject === entity.id ? item.object : item.subject;
          return (
            <li key={keyOf(item)} class={item.until ? "is-over" : undefined}>
              <span class="relation-name">
                {item.subject === entity.id ? "" : "← "}
                <Said text={named("attribute", item.relation)} cut={60} />
              </span>
              <button type="button" class="inline" onClick={() => onChoose(other)}>
                <Said text={names.get(other) ?? other} cut={60} />
              </button>
              <a class="inline" href={linkTo("memory", owner, [item.memory_id])}>
                {item.until ? t("graph.until", { day: day(item.until) }) : t("graph.since", { day: day(item.since) })}
              </a>
            </li>
          );
        })}
      </ul>
    </section>
  );
}
