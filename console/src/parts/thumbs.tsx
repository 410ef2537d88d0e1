/** Says of a recalled memory whether it helped: what helps fades more slowly. */
import { useState } from "preact/hooks";
import { giveFeedback } from "../api/calls";
import type { Owner } from "../api/types";
import { t } from "../i18n";
import { act } from "../state/act";
import { may } from "../state/session";
import { Button } from "./button";

type Signal = "up" | "down";

export function Thumbs({ owner, memory, recallId }: { owner: Owner; memory: string; recallId?: string }) {
  const [given, setGiven] = useState<Signal | null>(null);
  if (!may("write")) return null;
  async function give(signal: Signal) {
    const body = recallId ? { signal, recall_id: recallId } : { signal };
    if (await act(owner, t(`thumbs.${signal}_done`), () => giveFeedback(owner, memory, body))) setGiven(signal);
  }
  return (
    <span class="thumbs">
      <Button small kind="quiet" icon="up" label={t("thumbs.up")} pressed={given === "up"} onClick={() => give("up")} />
      <Button
        small
        kind="quiet"
        icon="downvote"
        label={t("thumbs.down")}
        pressed={given === "down"}
        onClick={() => give("down")}
      />
    </span>
  );
}
