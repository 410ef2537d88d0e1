/** Every screen of the console. A new screen is a file beside this one, and an entry here. */
import type { ComponentType } from "preact";
import type { Owner, Role } from "../api/types";
import type { Key } from "../i18n";
import type { IconName } from "../parts/icons";
import { Ask } from "./ask";
import { Changes } from "./changes";
import { Memories } from "./memories";
import { OneMemory } from "./memory";
import { People } from "./people";
import { Access } from "./access";
import { Content } from "./content";
import { Graph } from "./graph";
import { Health } from "./health";
import { Maintenance } from "./maintenance";
import { Profile } from "./profile";
import { Review } from "./review";

export interface Screen {
  /** Its place in the address: `#/people`, or `#/of/user/emma/memories` for a screen of a person. */
  id: string;
  scope: "service" | "person";
  title: Key;
  icon: IconName;
  view: ComponentType<{ owner: Owner }>;
  inNav?: boolean;
  /** Who sees it; `everybody` is a key for all people, `tenant` one that administers them. */
  needs?: Role | "everybody" | "tenant";
  /** Screens that are reached from here, so that this entry stays marked. */
  also?: readonly string[];
}

export const SCREENS: readonly Screen[] = [
  {
    id: "people",
    scope: "service",
    title: "people.title",
    icon: "people",
    view: People,
    inNav: true,
    needs: "everybody",
  },
  {
    id: "memories",
    scope: "person",
    title: "memories.title",
    icon: "memories",
    view: Memories,
    inNav: true,
    also: ["memory"],
  },
  { id: "memory", scope: "person", title: "memory.title", icon: "memories", view: OneMemory },
  { id: "ask", scope: "person", title: "ask.title", icon: "ask", view: Ask, inNav: true },
  { id: "profile", scope: "person", title: "profile.title", icon: "profile", view: Profile, inNav: true },
  { id: "graph", scope: "person", title: "graph.title", icon: "graph", view: Graph, inNav: true },
  { id: "review", scope: "person", title: "review.title", icon: "review", view: Review, inNav: true },
  { id: "content", scope: "person", title: "content.title", icon: "health", view: Content, inNav: true },
  { id: "changes", scope: "person", title: "changes.title", icon: "undo", view: Changes, inNav: true },
  {
    id: "maintenance",
    scope: "service",
    title: "maintenance.title",
    icon: "maintenance",
    view: Maintenance,
    inNav: true,
    needs: "tenant",
  },
  { id: "health", scope: "service", title: "health.title", icon: "health", view: Health, inNav: true, needs: "tenant" },
  { id: "access", scope: "service", title: "access.title", icon: "access", view: Access, inNav: true, needs: "tenant" },
];
