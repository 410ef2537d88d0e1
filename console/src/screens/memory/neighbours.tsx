/** What a memory is connected with: people and things, and other memories about them. */
import { getNeighbours } from "../../api/calls";
import type { Owner } from "../../api/types";
import { named, t } from "../../i18n";
import { Failure } from "../../parts/states";
import { Said } from "../../parts/text";
import { useLoad } from "../../state/load";
import { linkTo } from "../../state/router";

const SHOWN = 12;

export function NeighbourList({ owner, id }: { owner: Owner; id: string }) {
  const told = useLoad(`neighbours ${id}`, (signal) => getNeighbours(owner, id, signal));
  if (told.error) return <Failure error={told.error} />;
  const { entities, relations, memories } = told.data ?? { entities: [], relations: [], memories: [] };
  const names = new Map(entities.map((entity) => [entity.id, entity.name]));
  if (!relations.length && !memories.length) return null;
  return (
    <section class="card">
      <h2>{t("neighbours.title")}</h2>
      <ul class="links">
        {relations.slice(0, SHOWN).map((relation) => (
          <li key={`${relation.subject} ${relation.relation} ${relation.object}`} class={relation.until ? "is-over" : ""}>
            <Name name={names.get(relation.subject) ?? relation.subject} owner={owner} />
            <span class="relation">
              <Said text={named("attribute", relation.relation)} cut={60} />
            </span>
            <Name name={names.get(relation.object) ?? relation.object} owner={owner} />
          </li>
        ))}
      </ul>
      {memories.length > 0 && (
        <ul class="neighbours">
          {memories.slice(0, SHOWN).map((memory) => (
            <li key={memory.id}>
              <a class="memory-text" href={linkTo("memory", owner, [memory.id])}>
                <Said text={memory.text} cut={300} />
              </a>
              <p class="hint">{t("neighbours.shares", { names: memory.shares.join(", ") })}</p>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

function Name({ name, owner }: { name: string; owner: Owner }) {
  return (
    <a class="entity" href={linkTo("graph", owner, [], { about: name })}>
      <Said text={name} cut={60} />
    </a>
  );
}
