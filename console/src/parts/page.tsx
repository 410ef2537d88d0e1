/** The head of a screen: whose it is, what it is, and what can be done. */
import type { ComponentChildren } from "preact";
import type { Owner } from "../api/types";
import { linkTo } from "../state/router";
import { Icon } from "./icons";
import { Said } from "./text";

interface HeadProps {
  title: string;
  /** A line under the title. */
  about?: ComponentChildren;
  /** Shown above the title, as the way back. */
  owner?: Owner;
  actions?: ComponentChildren;
}

export function PageHead({ title, about, owner, actions }: HeadProps) {
  return (
    <header class="page-head">
      <div>
        {owner && (
          <a class="crumb" href={linkTo("memories", owner)}>
            <Icon name={owner.kind === "user" ? "profile" : "access"} size={15} />
            <Said text={owner.name} cut={60} />
          </a>
        )}
        <h1>{title}</h1>
        {about && <p class="about">{about}</p>}
      </div>
      {actions && <div class="actions">{actions}</div>}
    </header>
  );
}
