/** How well what is remembered of somebody is: what nobody ever used, what repeats, waits or disagrees. */
import { idsOf, read } from "../api/client";
import { listMemories } from "../api/calls";
import type { Memory, Owner } from "../api/types";
import { useState } from "preact/hooks";
import { number, percent, t, tn } from "../i18n";
import { day } from "../i18n/dates";
import { Button } from "../parts/button";
import { PageHead } from "../parts/page";
import { Spark } from "../parts/spark";
import { Empty, Failure, Loading } from "../parts/states";
import { Said } from "../parts/text";
import { useLoad } from "../state/load";
import { linkTo } from "../state/router";

const FINDINGS = ["quarantined", "needs_review", "contradictions", "repeated", "questions", "never_used"] as const;
type Finding = (typeof FINDINGS)[number];
/** Days that the bars of ended memories show. */
const DAYS = 30;
const DAY_MS = 86_400_000;

type Answer = Record<Finding | "memories", number> & {
  ended_by_day: { day: string; ended: number }[];
  samples: Record<Finding, string[]>;
};

export function Content({ owner }: { owner: Owner }) {
  const content = useLoad(`content ${owner.kind} ${owner.name}`, (signal) =>
    read<Answer>("/v1/content", idsOf(owner), signal),
  );
  const [opened, setOpened] = useState<Finding | null>(null);
  const found = content.data;
  return (
    <>
      <PageHead owner={owner} title={t("content.title")} about={found ? tn("content.count", found.memories) : t("content.about")} />
      {content.error && <Failure error={content.error} />}
      {!found && content.isLoading && <Loading rows={6} />}
      {found && (
        <>
          <section class="card">
            <h2>{t("content.ended")}</h2>
            <Spark values={endedValues(found)} label={tn("content.ended_count", endedValues(found).reduce((a, b) => a + b, 0))} />
            <p class="hint">{t("content.ended_hint")}</p>
          </section>
          <ul class="findings">
            {FINDINGS.map((finding) => (
              <li key={finding} class={found[finding] ? "card finding" : "card finding is-well"}>
                <div>
                  <h2>{t(`content.${finding}`)}</h2>
                  <p class="hint">{t(`content.${finding}_hint`)}</p>
                </div>
                <p class="finding-count">
                  {number(found[finding])}
                  {finding === "never_used" && found.memories > 0 && (
                    <span class="hint"> {percent(found[finding] / found.memories)}</span>
                  )}
                </p>
                {found.samples[finding]?.length > 0 && (
                  <Button small expanded={opened === finding} onClick={() => setOpened(opened === finding ? null : finding)}>
                    {t(opened === finding ? "content.hide" : "content.show")}
                  </Button>
                )}
                {opened === finding && <Samples owner={owner} ids={found.samples[finding]} />}
              </li>
            ))}
          </ul>
        </>
      )}
    </>
  );
}

function endedValues({ ended_by_day }: Answer): number[] {
  const byDay = new Map(ended_by_day.map((item) => [item.day, item.ended]));
  const now = Date.now();
  return Array.from({ length: DAYS }, (_, place) => {
    const date = new Date(now - (DAYS - 1 - place) * DAY_MS).toISOString().slice(0, 10);
    return byDay.get(date) ?? 0;
  });
}

function Samples({ owner, ids }: { owner: Owner; ids: readonly string[] }) {
  const list = useLoad(`samples ${ids.join()}`, async (signal) => {
    const body = { filters: { id: { in: [...ids] } }, state: "all" as const, include: "all" as const, limit: ids.length };
    return (await listMemories(owner, body, signal)).memories;
  });
  if (list.error) return <Failure error={list.error} />;
  if (!list.data) return <Loading rows={2} />;
  if (!list.data.length) return <Empty title={t("content.gone")} />;
  return (
    <ul class="samples">
      {list.data.map((memory: Memory) => (
        <li key={memory.id}>
          <a href={linkTo("memory", owner, [memory.id])}>
            <Said text={memory.text} cut={300} />
          </a>
          <time dateTime={memory.created_at}>{day(memory.created_at)}</time>
        </li>
      ))}
    </ul>
  );
}
