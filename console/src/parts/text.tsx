/** Words that somebody said. They are shown as text, apart from the words around them. */
import { classes } from "./button";

/** Marks that turn the direction of text reach no further than this element. */
export function Said({ text, class: name, cut }: { text: string; class?: string; cut?: number }) {
  const shown = cut && text.length > cut ? `${text.slice(0, cut)}…` : text;
  return (
    <bdi class={classes("said", name)} dir="auto">
      {shown}
    </bdi>
  );
}
