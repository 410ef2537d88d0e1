/** What narrows the list. */
import { useEffect, useState } from "preact/hooks";
import type { Facets } from "../../api/types";
import { named, number, t } from "../../i18n";
import { Button } from "../../parts/button";
import { TideLegend } from "../../parts/freshness";
import { Input, Select, type Choice } from "../../parts/fields";
import { Segments } from "../../parts/tabs";
import { useSettled } from "../../state/settled";
import { changeView, EVERYTHING, isNarrowed, ORDERS, ROLES, STATES, TYPES, type State, type View } from "./view";

export function Filters({ view, facets }: { view: View; facets: Facets | null }) {
  const hasHidden = Boolean(view.from || view.to || view.role || view.conversation || view.order !== "newest");
  const [showsAll, setShowsAll] = useState(hasHidden);
  const [text, setText] = useState(view.text);
  useSettled(text, (value) => changeView({ text: value }));
  useEffect(() => setText(view.text), [view.text]);
  const any = { value: "", label: t("filter.any_type") };
  return (
    <div class="filters">
      <div class="toolbar">
        <Input label={t("filter.text")} quiet type="search" placeholder={t("filter.text")} value={text} onInput={setText} />
        <Select
          label={t("filter.type")}
          quiet
          value={view.type}
          choices={[any, ...TYPES.map((value) => counted(value, named("type", value), facets?.types))]}
          onChange={(type) => changeView({ type })}
        />
        <Select
          label={t("filter.tag")}
          quiet
          value={view.tag}
          choices={tagChoices(view.tag, facets)}
          onChange={(tag) => changeView({ tag })}
        />
        <Select
          label={t("filter.state")}
          quiet
          value={view.state}
          usual="current"
          choices={STATES.map((value) => stateChoice(value, view.day, facets))}
          onChange={(state) => changeView({ state: state as State })}
        />
        <Button kind="quiet" icon="filter" expanded={showsAll} onClick={() => setShowsAll(!showsAll)}>
          {t("filter.more")}
        </Button>
        {isNarrowed(view) && (
          <Button kind="quiet" icon="close" onClick={() => changeView(EVERYTHING)}>
            {t("filter.clear")}
          </Button>
        )}
      </div>
      {showsAll && <MoreFilters view={view} />}
      <div class="list-head">
        <TideLegend />
        <Segments
          label={t("filter.layout")}
          value={view.layout}
          choices={[
            { value: "list", label: t("filter.list") },
            { value: "timeline", label: t("filter.timeline") },
          ]}
          onChange={(layout) => changeView({ layout: layout as View["layout"] })}
        />
      </div>
    </div>
  );
}

function MoreFilters({ view }: { view: View }) {
  return (
    <div class="toolbar second">
      <Input label={t("filter.from")} type="date" value={view.from} max={view.to} onInput={(from) => changeView({ from })} />
      <Input label={t("filter.to")} type="date" value={view.to} min={view.from} onInput={(to) => changeView({ to })} />
      <Select
        label={t("filter.role")}
        value={view.role}
        choices={[{ value: "", label: t("filter.anybody") }, ...ROLES.map((value) => ({ value, label: t(`role.${value}`) }))]}
        onChange={(role) => changeView({ role })}
      />
      <Input
        label={t("filter.conversation")}
        value={view.conversation}
        onInput={(conversation) => changeView({ conversation })}
      />
      <Select
        label={t("filter.include")}
        value={view.include}
        usual="memories"
        choices={(["memories", "episodes"] as const).map((value) => ({ value, label: t(`include.${value}`) }))}
        onChange={(include) => changeView({ include: include as View["include"] })}
      />
      <Select
        label={t("filter.order")}
        value={view.order}
        usual="newest"
        choices={ORDERS.map((value) => ({ value, label: t(`order.${value}`) }))}
        onChange={(order) => changeView({ order })}
      />
    </div>
  );
}

function counted(value: string, label: string, counts: Record<string, number> | undefined): Choice {
  const count = counts?.[value];
  return { value, label: count === undefined ? label : `${label} (${number(count)})` };
}

/** The counts are those of today. */
function stateChoice(value: State, day: string, facets: Facets | null): Choice {
  if (day && value === "current") return { value, label: t("state_of.current_then") };
  return counted(value, t(`state_of.${value}`), day ? undefined : facets?.states);
}

function tagChoices(chosen: string, facets: Facets | null): Choice[] {
  const counts = facets?.tags ?? {};
  const tags = Object.keys(counts);
  if (chosen && !tags.includes(chosen)) tags.unshift(chosen);
  return [{ value: "", label: t("filter.any_tag") }, ...tags.map((tag) => counted(tag, named("tag", tag), counts))];
}
