/** Memories one under another, or along a line of time. */
import type { Memory, Owner } from "../../api/types";
import { month } from "../../i18n/dates";
import { classes } from "../../parts/button";
import { Row, type Deed } from "./row";

interface ListProps {
  owner: Owner;
  memories: readonly Memory[];
  at?: Date;
  layout: "list" | "timeline";
  chosen: ReadonlySet<string>;
  onChoose: (id: string, isChosen: boolean) => void;
  onDeed: (deed: Deed, memory: Memory) => void;
}

export function MemoryList({ owner, memories, at, layout, chosen, onChoose, onDeed }: ListProps) {
  const row = (memory: Memory) => (
    <Row
      key={memory.id}
      owner={owner}
      memory={memory}
      at={at}
      isChosen={chosen.has(memory.id)}
      onChoose={(isChosen) => onChoose(memory.id, isChosen)}
      onDeed={onDeed}
    />
  );
  if (layout === "list") return <ul class="memories">{memories.map(row)}</ul>;
  return (
    <div class="timeline">
      {byMonth(memories).map((group) => (
        <section key={group.title} class={classes("timeline-month")}>
          <h2>{group.title}</h2>
          <ul class="memories">{group.memories.map(row)}</ul>
        </section>
      ))}
    </div>
  );
}

interface Group {
  title: string;
  memories: Memory[];
}

function byMonth(memories: readonly Memory[]): Group[] {
  const groups: Group[] = [];
  for (const memory of memories) {
    const title = month(memory.created_at);
    const last = groups.at(-1);
    if (last?.title === title) last.memories.push(memory);
    else groups.push({ title, memories: [memory] });
  }
  return groups;
}
