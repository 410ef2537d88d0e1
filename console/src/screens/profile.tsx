/** Who somebody is, in short. What is set by hand lasts: it wins over all that is said later. */
import { useState } from "preact/hooks";
import { part, read, send } from "../api/client";
import type { Changed, Owner } from "../api/types";
import { language, named, t, tn } from "../i18n";
import { relative } from "../i18n/dates";
import { Button } from "../parts/button";
import { Dialog } from "../parts/dialog";
import { Input, Select } from "../parts/fields";
import { Icon } from "../parts/icons";
import { PageHead } from "../parts/page";
import { Empty, Failure, Loading } from "../parts/states";
import { Said } from "../parts/text";
import { act } from "../state/act";
import { useLoad } from "../state/load";
import { linkTo } from "../state/router";
import { may } from "../state/session";

const SECTIONS = ["facts", "constraints", "preferences", "dislikes"] as const;
type Section = (typeof SECTIONS)[number];

interface Entry {
  key: string;
  value: string;
  text: string;
  mentions: number;
  last_at: string | null;
  memory_ids: string[];
  source: "memory" | "user" | "import" | "default";
  is_safety_critical: boolean;
  attribute?: string;
  overridden_value?: string;
}

type Portrait = Record<Section, Entry[]> & { summary: string; version: number; updated_at: string | null };

interface Change {
  set?: Record<string, string | string[]>;
  unset?: string[];
  revert?: string[];
}

const update = (owner: Owner, body: Change): Promise<Changed> =>
  send("PUT", `/v1/profiles/${part(owner.name)}`, { body });

export function Profile({ owner }: { owner: Owner }) {
  const path = `/v1/profiles/${part(owner.name)}`;
  const portrait = useLoad(`profile ${owner.name}`, (signal) => read<Portrait>(path, {}, signal));
  const [edited, setEdited] = useState<{ section: Section; entry: Entry | null } | null>(null);
  const isEmpty = portrait.data !== null && SECTIONS.every((section) => portrait.data?.[section].length === 0);
  return (
    <>
      <PageHead
        owner={owner}
        title={t("profile.title")}
        about={t("profile.about")}
        actions={
          may("write") && (
            <Button kind="primary" icon="add" onClick={() => setEdited({ section: "facts", entry: null })}>
              {t("profile.add")}
            </Button>
          )
        }
      />
      {portrait.error && <Failure error={portrait.error} />}
      {!portrait.data && portrait.isLoading && <Loading rows={8} />}
      {isEmpty && <Empty title={t("profile.none")} />}
      <div class="profile">
        {portrait.data &&
          SECTIONS.filter((section) => portrait.data?.[section].length).map((section) => (
            <section key={section} class="card">
              <h2>{t(`profile.${section}`)}</h2>
              <ul class="entries">
                {portrait.data?.[section].map((entry) => (
                  <Line
                    key={entry.key}
                    owner={owner}
                    entry={entry}
                    section={section}
                    onEdit={() => setEdited({ section, entry })}
                  />
                ))}
              </ul>
            </section>
          ))}
      </div>
      <Questions owner={owner} />
      {edited && <Edit owner={owner} {...edited} onClose={() => setEdited(null)} />}
    </>
  );
}

interface LineProps {
  owner: Owner;
  entry: Entry;
  section: Section;
  onEdit: () => void;
}

function Line({ owner, entry, section, onEdit }: LineProps) {
  const isByHand = entry.source === "user";
  const canEdit = section !== "facts" || Boolean(entry.attribute) || isByHand;
  const memory = entry.memory_ids[0];
  const take = (change: Change, done: string) => act(owner, done, () => update(owner, change));
  return (
    <li class="entry">
      <div>
        {entry.attribute && section === "facts" && <p class="entry-name">{wordsOf(entry.attribute)}</p>}
        <p class="entry-value">
          <Said text={entry.value} cut={200} />
          {entry.is_safety_critical && (
            <span class="badge warn">
              <Icon name="alert" size={13} />
              {t("profile.safety")}
            </span>
          )}
          {entry.source !== "memory" && <span class="badge">{named("profile.source", entry.source)}</span>}
        </p>
        <p class="meta">
          {memory && (
            <a class="inline" href={linkTo("memory", owner, [memory])}>
              {tn("profile.mentions", entry.mentions)}
            </a>
          )}
          {entry.last_at && <span>{relative(entry.last_at)}</span>}
          {entry.overridden_value && <span>{t("profile.instead", { value: entry.overridden_value })}</span>}
        </p>
      </div>
      {may("write") && (
        <div class="deeds">
          {isByHand && (
            <Button
              small
              kind="quiet"
              icon="restore"
              label={t("profile.revert")}
              onClick={() => take({ revert: [entry.key] }, t("profile.reverted"))}
            />
          )}
          {canEdit && <Button small kind="quiet" icon="edit" label={t("action.edit")} onClick={onEdit} />}
          <Button
            small
            kind="quiet"
            icon="close"
            label={t("profile.unset")}
            onClick={() => take({ unset: [nameOf(section, entry)] }, t("profile.unset_done"))}
          />
        </div>
      )}
    </li>
  );
}

/** How the service names an entry: a fact by its key, a member of a list by list and key. */
function nameOf(section: Section, entry: Entry): string {
  return section === "facts" ? entry.key : `${section}.${entry.key}`;
}

function wordsOf(attribute: string): string {
  return attribute
    .split(".")
    .map((word) => named("attribute", word))
    .join(" · ");
}

interface EditProps {
  owner: Owner;
  section: Section;
  entry: Entry | null;
  onClose: () => void;
}

function Edit({ owner, section: first, entry, onClose }: EditProps) {
  const [section, setSection] = useState<Section>(first);
  const [name, setName] = useState(entry?.attribute ?? "");
  const [value, setValue] = useState(entry?.value ?? "");
  const isFact = section === "facts";
  const key = entry ? entry.key : name.trim();
  async function save() {
    const text = value.trim();
    const change: Change = isFact ? { set: { [key]: text } } : { set: { [section]: [text] } };
    if (entry && !isFact && text !== entry.value) change.unset = [nameOf(section, entry)];
    if (await act(owner, t("profile.saved"), () => update(owner, change))) onClose();
  }
  return (
    <Dialog
      title={t(entry ? "profile.edit" : "profile.add")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" onClick={save} disabled={!value.trim() || (isFact && !key)}>
            {t("action.save")}
          </Button>
        </>
      }
    >
      <p class="hint">{t("profile.lasts")}</p>
      {!entry && (
        <Select
          label={t("profile.section")}
          value={section}
          choices={SECTIONS.map((id) => ({ value: id, label: t(`profile.${id}`) }))}
          onChange={(id) => setSection(id as Section)}
        />
      )}
      {isFact && !entry && (
        <Input label={t("profile.name")} value={name} onInput={setName} hint={t("profile.name_hint")} list={NAMES} />
      )}
      <Input
        label={entry?.attribute ? wordsOf(entry.attribute) : t("profile.value")}
        value={value}
        onInput={setValue}
        autofocus={Boolean(entry)}
      />
    </Dialog>
  );
}

/** Keys of facts that the service knows by name. */
const NAMES = ["name", "home", "job", "employer", "birthday", "phone", "email"] as const;

function Questions({ owner }: { owner: Owner }) {
  const path = `/v1/profiles/${part(owner.name)}/questions`;
  const asked = useLoad(`questions ${owner.name} ${language.value}`, (signal) =>
    read<{ questions: { about: string; question: string }[] }>(path, { language: language.value }, signal),
  );
  if (!asked.data?.questions.length) return null;
  return (
    <section class="card questions">
      <h2>{t("profile.questions")}</h2>
      <ul>
        {asked.data.questions.map((item) => (
          <li key={item.about}>{item.question}</li>
        ))}
      </ul>
    </section>
  );
}
