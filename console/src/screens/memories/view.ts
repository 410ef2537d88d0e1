/** What the list of memories shows. It stands in the address, so that a view can be kept and passed on. */
import type { ListBody } from "../../api/calls";
import { endOfDay } from "../../i18n/dates";
import { place, setQuery, type Query } from "../../state/router";

export type State = "current" | "ended" | "faded" | "gone";

export const STATES: readonly State[] = ["current", "ended", "faded", "gone"];
export const ORDERS = ["newest", "oldest", "freshest", "stalest"] as const;
export const TYPES = ["fact", "preference", "constraint", "procedural", "episodic", "semantic"] as const;
export const ROLES = ["user", "assistant", "tool"] as const;

export interface View {
  text: string;
  type: string;
  tag: string;
  role: string;
  conversation: string;
  state: State;
  order: string;
  include: "memories" | "episodes";
  from: string;
  to: string;
  /** The day on the slider; empty for today. */
  day: string;
  /** On another day: the list, or `changes`. */
  tab: string;
  layout: "list" | "timeline";
}

export function currentView(): View {
  const { query } = place.value;
  const given = (name: string) => query.get(name) ?? "";
  const state = STATES.find((name) => name === given("state")) ?? "current";
  return {
    text: given("text"),
    type: given("type"),
    tag: given("tag"),
    role: given("role"),
    conversation: given("conversation"),
    state,
    order: ORDERS.find((name) => name === given("order")) ?? "newest",
    include: given("include") === "episodes" ? "episodes" : "memories",
    from: given("from"),
    to: given("to"),
    day: given("day"),
    tab: given("tab"),
    layout: given("layout") === "timeline" ? "timeline" : "list",
  };
}

export function changeView(changes: Partial<View>): void {
  setQuery(changes as Query);
}

const NARROWING = ["text", "type", "tag", "role", "conversation", "from", "to"] as const;

export function isNarrowed(view: View): boolean {
  return NARROWING.some((name) => view[name] !== "") || view.state !== "current" || view.include !== "memories";
}

export const EVERYTHING: Partial<View> = {
  text: "",
  type: "",
  tag: "",
  role: "",
  conversation: "",
  from: "",
  to: "",
  state: "" as State,
  include: "" as "memories",
};

/** What the service is asked for. */
export function asked(view: View): ListBody {
  const filters: Record<string, unknown> = {};
  if (view.text) filters.text = { icontains: view.text };
  if (view.type) filters.type = view.type;
  if (view.tag) filters.tags = { contains: view.tag };
  if (view.role) filters.role = view.role;
  if (view.conversation) filters.run_id = view.conversation;
  const period = { ...(view.from && { gte: view.from }), ...(view.to && { lte: view.to }) };
  if (Object.keys(period).length) filters.created_at = period;
  return {
    ...(Object.keys(filters).length && { filters }),
    state: view.state,
    order: view.order,
    include: view.include,
    ...(view.day && { as_of: endOfDay(view.day) }),
  };
}
