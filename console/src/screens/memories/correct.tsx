/** Changes a memory: it was noted wrongly, or something has changed since. */
import { useState } from "preact/hooks";
import { addMemory, updateMemory } from "../../api/calls";
import type { Memory, Owner } from "../../api/types";
import { t } from "../../i18n";
import { Button } from "../../parts/button";
import { Dialog } from "../../parts/dialog";
import { Input, TextArea } from "../../parts/fields";
import { Segments } from "../../parts/tabs";
import { Said } from "../../parts/text";
import { act } from "../../state/act";

type Way = "wrong" | "changed";

export function Correct({ owner, memory, onClose }: { owner: Owner; memory: Memory; onClose: () => void }) {
  const [way, setWay] = useState<Way>("wrong");
  const [text, setText] = useState(memory.text);
  const [tags, setTags] = useState(memory.tags.join(", "));
  const [isBusy, setBusy] = useState(false);
  async function save() {
    setBusy(true);
    const isDone =
      way === "wrong"
        ? await act(owner, t("toast.edited"), () => updateMemory(owner, memory.id, changesOf(memory, text, tags)))
        : await act(owner, t("toast.added"), () => addMemory(owner, text.trim()));
    setBusy(false);
    if (isDone) onClose();
  }
  function choose(next: string) {
    setWay(next as Way);
    setText(next === "wrong" ? memory.text : "");
  }
  return (
    <Dialog
      title={t("correct.title")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" onClick={save} disabled={isBusy || !text.trim()}>
            {t("action.save")}
          </Button>
        </>
      }
    >
      <Segments
        label={t("correct.way")}
        value={way}
        choices={[
          { value: "wrong", label: t("correct.wrong") },
          { value: "changed", label: t("correct.changed") },
        ]}
        onChange={choose}
      />
      <p class="hint">{t(`correct.${way}_hint`)}</p>
      {way === "changed" && (
        <blockquote class="was">
          <Said text={memory.text} cut={600} />
        </blockquote>
      )}
      <TextArea label={t(way === "wrong" ? "correct.text" : "correct.now")} value={text} onInput={setText} />
      {way === "wrong" && <Input label={t("correct.tags")} value={tags} onInput={setTags} hint={t("correct.tags_hint")} />}
    </Dialog>
  );
}

/** What is left out stays as it is. */
function changesOf(memory: Memory, text: string, tags: string) {
  const list = tags
    .split(/[,，、]/)
    .map((tag) => tag.trim())
    .filter(Boolean);
  const hasNewTags = list.join("\n") !== memory.tags.join("\n");
  return { ...(text.trim() !== memory.text && { text: text.trim() }), ...(hasNewTags && { tags: list }) };
}

/** Adds something by hand. */
export function Add({ owner, onClose }: { owner: Owner; onClose: () => void }) {
  const [text, setText] = useState("");
  const save = async () => {
    if (await act(owner, t("toast.added"), () => addMemory(owner, text.trim()))) onClose();
  };
  return (
    <Dialog
      title={t("add.title")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" onClick={save} disabled={!text.trim()}>
            {t("action.save")}
          </Button>
        </>
      }
    >
      <TextArea label={t("add.text")} value={text} onInput={setText} hint={t("add.hint")} />
    </Dialog>
  );
}
