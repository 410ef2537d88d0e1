/** One result of a question: its score, why it was found, and what the score is made of. */
import type { Hit, LeftOut, Owner } from "../../api/types";
import { locale, named, number, t } from "../../i18n";
import { day } from "../../i18n/dates";
import { reason } from "../../i18n/reasons";
import { classes } from "../../parts/button";
import { Said } from "../../parts/text";
import { Thumbs } from "../../parts/thumbs";
import { linkTo } from "../../state/router";

interface HitProps {
  owner: Owner;
  hit: Hit;
  rank: number;
  recallId: string;
  /** It is not among the results of the other run. */
  isAlone: boolean;
}

export function HitRow({ owner, hit, rank, recallId, isAlone }: HitProps) {
  return (
    <li class={classes("hit", isAlone && "is-alone")} data-memory={hit.id}>
      <span class="rank">{rank}</span>
      <div class="hit-body">
        <a class="memory-text" href={linkTo("memory", owner, [hit.id])}>
          <Said text={hit.text} />
        </a>
        <Score value={hit.score} />
        {hit.why && <p class="why">{reason(hit.why)}</p>}
        <p class="meta">
          <span class="kind">{named("type", hit.kind === "episode" ? "episode" : hit.type)}</span>
          <time dateTime={hit.created_at}>{day(hit.created_at)}</time>
          {isAlone && <span class="alone">{t("ask.only_here")}</span>}
        </p>
        <Details hit={hit} />
      </div>
      <Thumbs owner={owner} memory={hit.id} recallId={recallId} />
    </li>
  );
}

export function LeftOutRow({ owner, item }: { owner: Owner; item: LeftOut }) {
  return (
    <li class="hit left-out">
      <span class="rank" aria-hidden="true">
        –
      </span>
      <div class="hit-body">
        <a class="memory-text" href={linkTo("memory", owner, [item.id])}>
          <Said text={item.text} cut={240} />
        </a>
        {typeof item.score === "number" && <Score value={item.score} />}
        <p class="why">{named("left_out", item.reason)}</p>
        <Details hit={item} />
      </div>
    </li>
  );
}

function Score({ value }: { value: number }) {
  const shown = new Intl.NumberFormat(locale(), { minimumFractionDigits: 2, maximumFractionDigits: 2 }).format(value);
  return (
    <div class="score">
      <span class="score-track" aria-hidden="true">
        <span style={{ width: `${Math.round(Math.min(1, Math.max(0, value)) * 100)}%` }} />
      </span>
      <span class="score-value">
        <span class="unseen">{t("ask.score")} </span>
        {shown}
      </span>
    </div>
  );
}

/** What each way of finding gave, and what the score is made of. Bars are drawn within their group. */
function Details({ hit }: { hit: Hit }) {
  const ways = Object.entries(hit.retriever_scores ?? {});
  const parts = Object.entries(hit.score_details ?? {}).filter(([name]) => !(name in (hit.retriever_scores ?? {})));
  if (!ways.length && !parts.length) return null;
  return (
    <details class="score-details">
      <summary>{t("ask.details")}</summary>
      <Bars title={t("ask.found_by")} group="retriever" values={ways} />
      <Bars title={t("ask.made_of")} group="score_part" values={parts} />
    </details>
  );
}

function Bars({ title, group, values }: { title: string; group: string; values: readonly [string, number][] }) {
  if (!values.length) return null;
  const most = Math.max(1, ...values.map(([, value]) => Math.abs(value)));
  return (
    <table class="bars">
      <caption>{title}</caption>
      <tbody>
        {values.map(([name, value]) => (
          <tr key={name}>
            <th scope="row">{named(group, name)}</th>
            <td class="bar-cell" aria-hidden="true">
              <span
                class={value < 0 ? "bar-fill negative" : "bar-fill"}
                style={{ width: `${Math.round((Math.abs(value) / most) * 100)}%` }}
              />
            </td>
            <td class="numeric">{number(value, 2)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
