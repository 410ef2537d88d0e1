/** Who is there, and how much is known of them. */
import { useState } from "preact/hooks";
import { listPeople } from "../api/calls";
import type { Person } from "../api/types";
import { number, t, tn } from "../i18n";
import { dayAndTime, relative } from "../i18n/dates";
import { Input, Select } from "../parts/fields";
import { More } from "../parts/more";
import { PageHead } from "../parts/page";
import { Spark } from "../parts/spark";
import { Empty, Failure, Loading } from "../parts/states";
import { Table, type Column } from "../parts/table";
import { Said } from "../parts/text";
import { usePages } from "../state/load";
import { linkTo, place, setQuery } from "../state/router";
import { useSettled } from "../state/settled";

const KINDS = ["user", "agent", "run"] as const;
const ORDERS = ["memories", "name"] as const;

export function People() {
  const { query } = place.value;
  const kind = query.get("kind") ?? "user";
  const order = query.get("order") ?? "memories";
  const [name, setName] = useState(query.get("name") ?? "");
  const wanted = useSettled(name.trim(), (value) => setQuery({ name: value }));
  const pages = usePages(`people ${kind} ${order} ${wanted}`, async (cursor, signal) => {
    const page = await listPeople({ query: wanted, kind, order, limit: 50, cursor }, signal);
    return { items: page.owners, next: page.next_cursor, total: page.total };
  });
  return (
    <>
      <PageHead title={t("people.title")} about={pages.total === null ? t("people.about") : tn("people.count", pages.total)} />
      <div class="toolbar">
        <Input label={t("people.search")} quiet type="search" placeholder={t("people.search")} value={name} onInput={setName} />
        <Select
          label={t("people.kind")}
          quiet
          value={kind}
          usual="user"
          choices={KINDS.map((value) => ({ value, label: t(`kind.${value}`) }))}
          onChange={(value) => setQuery({ kind: value })}
        />
        <Select
          label={t("people.sort")}
          quiet
          value={order}
          usual="memories"
          choices={ORDERS.map((value) => ({ value, label: t(`people.by_${value}`) }))}
          onChange={(value) => setQuery({ order: value })}
        />
      </div>
      {pages.error && <Failure error={pages.error} />}
      {!pages.items.length && pages.isLoading && <Loading />}
      {!pages.items.length && !pages.isLoading && !pages.error && (
        <Empty title={wanted ? t("people.none_named") : t("people.none")}>{!wanted && <code>{EXAMPLE}</code>}</Empty>
      )}
      {pages.items.length > 0 && (
        <Table caption={t("people.title")} columns={columns()} rows={pages.items} rowKey={(one) => `${one.kind} ${one.name}`} />
      )}
      <More pages={pages} />
    </>
  );
}

const EXAMPLE = `curl ${location.origin}/v1/memories -H 'content-type: application/json' -d '{"user_id": "emma", "messages": "I moved to Leeds."}'`;

function columns(): Column<Person>[] {
  return [
    {
      id: "name",
      title: t("people.name"),
      cell: (one) => (
        <a class="row-link" href={linkTo("memories", one)}>
          <Said text={one.name} cut={80} />
        </a>
      ),
    },
    { id: "memories", title: t("people.memories"), numeric: true, cell: (one) => count(one.memories) },
    { id: "messages", title: t("people.messages"), numeric: true, wideOnly: true, cell: (one) => count(one.episodes) },
    {
      id: "growth",
      title: t("people.growth"),
      cell: (one) => <Growth person={one} />,
      wideOnly: true,
    },
    { id: "seen", title: t("people.seen"), cell: (one) => <span title={dayAndTime(one.last_at)}>{relative(one.last_at)}</span> },
  ];
}

function Growth({ person }: { person: Person }) {
  if (!person.added_by_week?.length) return <>–</>;
  const label = t("people.growth_label", { n: person.added_by_week.reduce((sum, value) => sum + value, 0) });
  return <Spark values={person.added_by_week} label={label} />;
}

function count(value: number | undefined): string {
  return value === undefined ? "–" : number(value);
}
