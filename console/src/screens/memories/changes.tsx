/** What has changed since a day, and what will change by one. */
import { useState } from "preact/hooks";
import { getForecast, listDifferences } from "../../api/calls";
import type { Difference, ForecastChange, Owner } from "../../api/types";
import { named, number, t, tn } from "../../i18n";
import { day, dayAndTime, endOfDay } from "../../i18n/dates";
import { reason } from "../../i18n/reasons";
import { More } from "../../parts/more";
import { Empty, Failure, Loading } from "../../parts/states";
import { Said } from "../../parts/text";
import { usePages } from "../../state/load";
import { linkTo } from "../../state/router";

/** A message that was only stored says nothing new: its text stands once. */
export function Differences({ owner, since }: { owner: Owner; since: string }) {
  const pages = usePages(`differences ${owner.kind} ${owner.name} ${since}`, async (cursor, signal) => {
    const page = await listDifferences(owner, { since: endOfDay(since), cursor }, signal);
    return { items: page.differences, next: page.next_cursor, total: page.total };
  });
  return (
    <>
      {pages.error && <Failure error={pages.error} />}
      {!pages.items.length && (pages.isLoading ? <Loading /> : <Empty title={t("days.nothing_since")} />)}
      {pages.items.length > 0 && (
        <ul class="changes">
          {pages.items.map((item) => (
            <ChangeRow key={`${item.memory_id} ${item.at} ${item.event}`} owner={owner} item={item} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function ChangeRow({ owner, item }: { owner: Owner; item: Difference }) {
  const { before, after } = item;
  const isRewritten = Boolean(before && after && before !== after);
  return (
    <li class="change">
      <span class={`event event-${item.event.toLowerCase()}`}>{named("event", item.event)}</span>
      <div>
        {before && (isRewritten || !after) && (
          <p class="before">
            <Said text={before} />
          </p>
        )}
        {after && (
          <a class="memory-text" href={linkTo("memory", owner, [item.memory_id])}>
            <Said text={after} />
          </a>
        )}
        {item.reason && <p class="hint">{reason(item.reason)}</p>}
      </div>
      <time dateTime={item.at} title={dayAndTime(item.at)}>
        {day(item.at)}
      </time>
    </li>
  );
}

/** What maintenance will do by a day, memory by memory. Nothing is done. */
export function ForecastList({ owner, by }: { owner: Owner; by: string }) {
  const key = `forecast ${owner.kind} ${owner.name} ${by}`;
  const [told, setTold] = useState<Record<string, number>>({});
  const pages = usePages(key, async (cursor, signal) => {
    const page = await getForecast(owner, { by: endOfDay(by), cursor }, signal);
    setTold(page.counts);
    return { items: page.changes, next: page.next_cursor, total: page.total };
  });
  const counts = Object.entries(told).filter(([, count]) => count > 0);
  return (
    <>
      <p class="hint forecast-hint">{t("days.forecast_hint", { day: day(`${by}T12:00:00`) })}</p>
      {pages.error && <Failure error={pages.error} />}
      {counts.length > 0 && (
        <dl class="figures">
          {counts.map(([name, count]) => (
            <div key={name}>
              <dt>{named("forecast", name)}</dt>
              <dd>{number(count)}</dd>
            </div>
          ))}
        </dl>
      )}
      {!pages.items.length && (pages.isLoading ? <Loading /> : <Empty title={t("days.nothing_by")} />)}
      {pages.items.length > 0 && (
        <ul class="changes" aria-label={tn("days.changes", pages.total ?? pages.items.length)}>
          {pages.items.map((item, place) => (
            <ForecastRow key={`${item.memory_id} ${place}`} owner={owner} item={item} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function ForecastRow({ owner, item }: { owner: Owner; item: ForecastChange }) {
  return (
    <li class="change">
      <span class="event event-fade">{named("fate", item.action.replaceAll(" ", "_"))}</span>
      <div>
        <a class="memory-text" href={linkTo("memory", owner, [item.memory_id])}>
          <Said text={item.text} />
        </a>
        <p class="hint">{reason(item.reason)}</p>
      </div>
    </li>
  );
}
