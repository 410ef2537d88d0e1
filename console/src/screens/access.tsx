/** Who may do what: keys, webhooks, and the log of what administrators did. */
import { useState } from "preact/hooks";
import { part, read, send } from "../api/client";
import { named, t } from "../i18n";
import { day, dayAndTime, relative } from "../i18n/dates";
import { Button } from "../parts/button";
import { Confirm, Dialog } from "../parts/dialog";
import { Check, Input, Select } from "../parts/fields";
import { Listed } from "../parts/listed";
import { PageHead } from "../parts/page";
import type { Column } from "../parts/table";
import { Tabs } from "../parts/tabs";
import { Said } from "../parts/text";
import { act } from "../state/act";
import { useLoad } from "../state/load";
import { place, setQuery } from "../state/router";

const TABS = ["keys", "webhooks", "audit"] as const;
const ROLES = ["read", "write", "admin"] as const;
const TOPICS = ["memory.added", "memory.updated", "memory.deleted", "session.end", "schedule.daily"] as const;
const ACTS = 200;

interface Key {
  id: string;
  role: string;
  user_id: string | null;
  note: string | null;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
}

interface Webhook {
  id: string;
  url: string;
  topics: string[];
  name: string | null;
  is_active: boolean;
}

interface Act {
  at: string;
  actor: string;
  action: string;
  target: string | null;
  outcome: string;
}

export function Access() {
  const current = place.value.query.get("tab") ?? "keys";
  return (
    <>
      <PageHead title={t("access.title")} about={t("access.about")} />
      <Tabs
        label={t("access.title")}
        tabs={TABS.map((id) => ({ id, label: t(`access.${id}`) }))}
        current={current}
        onChange={(tab) => setQuery({ tab })}
      >
        {current === "webhooks" ? <Webhooks /> : current === "audit" ? <Audit /> : <Keys />}
      </Tabs>
    </>
  );
}

function Keys() {
  const keys = useLoad("keys", (signal) => read<{ keys: Key[] }>("/v1/keys", {}, signal));
  const [isMaking, setMaking] = useState(false);
  const [revoked, setRevoked] = useState<Key | null>(null);
  const columns: Column<Key>[] = [
    { id: "note", title: t("access.note"), cell: (key) => <Said text={key.note ?? key.id} cut={60} /> },
    { id: "role", title: t("access.role"), cell: (key) => named("key_role", key.role) },
    { id: "whose", title: t("access.whose"), cell: (key) => (key.user_id ? <Said text={key.user_id} cut={40} /> : t("access.everybody")) },
    { id: "made", title: t("access.made"), wideOnly: true, cell: (key) => day(key.created_at) },
    { id: "ends", title: t("access.ends"), wideOnly: true, cell: (key) => (key.expires_at ? day(key.expires_at) : t("access.never")) },
    {
      id: "deed",
      title: t("access.deed"),
      cell: (key) =>
        key.revoked_at ? (
          <span class="badge">{t("access.revoked")}</span>
        ) : (
          <Button small kind="quiet" icon="close" onClick={() => setRevoked(key)}>
            {t("access.revoke")}
          </Button>
        ),
    },
  ];
  return (
    <Listed
      list={keys}
      rows={keys.data?.keys}
      columns={columns}
      caption={t("access.keys")}
      none={t("access.no_keys")}
      add={t("access.make_key")}
      onAdd={() => setMaking(true)}
    >
      {isMaking && <NewKey onClose={() => setMaking(false)} />}
      {revoked && (
        <Confirm
          title={t("access.revoke_title")}
          text={t("access.revoke_text")}
          action={t("access.revoke")}
          onClose={() => setRevoked(null)}
          onConfirm={() => {
            setRevoked(null);
            void act(null, t("access.revoke_done"), () => send("DELETE", `/v1/keys/${part(revoked.id)}`));
          }}
        />
      )}
    </Listed>
  );
}

function NewKey({ onClose }: { onClose: () => void }) {
  const [role, setRole] = useState("write");
  const [user, setUser] = useState("");
  const [note, setNote] = useState("");
  const [days, setDays] = useState("");
  const [secret, setSecret] = useState<string | null>(null);
  async function make() {
    await act(null, t("access.key_made"), async () => {
      const body = { role, user_id: user.trim() || null, note: note.trim() || null, expires_in_days: days ? Number(days) : null };
      setSecret((await send<{ key: string }>("POST", "/v1/keys", { body })).key);
      return null;
    });
  }
  if (secret) return <Secret title={t("access.key_made")} secret={secret} onClose={onClose} />;
  return (
    <Dialog
      title={t("access.make_key")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" onClick={make}>
            {t("access.make")}
          </Button>
        </>
      }
    >
      <Select label={t("access.role")} value={role} choices={ROLES.map((value) => ({ value, label: named("key_role", value) }))} onChange={setRole} />
      <Input label={t("access.note")} value={note} onInput={setNote} />
      <Input label={t("access.user")} value={user} onInput={setUser} hint={t("access.user_hint")} />
      <Input label={t("access.days")} type="number" min={1} value={days} onInput={setDays} hint={t("access.days_hint")} />
    </Dialog>
  );
}

/** A secret that the service tells once. */
function Secret({ title, secret, onClose }: { title: string; secret: string; onClose: () => void }) {
  return (
    <Dialog title={title} onClose={onClose} actions={<Button onClick={onClose}>{t("action.close")}</Button>}>
      <p>{t("access.once")}</p>
      <code class="secret">{secret}</code>
    </Dialog>
  );
}

function Webhooks() {
  const list = useLoad("webhooks", (signal) => read<{ webhooks: Webhook[] }>("/v1/webhooks", {}, signal));
  const [isMaking, setMaking] = useState(false);
  const [gone, setGone] = useState<Webhook | null>(null);
  const toggle = (hook: Webhook) =>
    act(null, t("access.hook_changed"), async () => {
      await send("PUT", `/v1/webhooks/${part(hook.id)}`, { body: { is_active: !hook.is_active } });
      return null;
    });
  const columns: Column<Webhook>[] = [
    { id: "url", title: t("access.url"), cell: (hook) => <Said text={hook.name ?? hook.url} cut={80} /> },
    { id: "topics", title: t("access.topics"), wideOnly: true, cell: (hook) => hook.topics.map((topic) => named("topic", topic)).join(", ") },
    { id: "active", title: t("access.active"), cell: (hook) => <Check label={t("access.is_active")} quiet checked={hook.is_active} onChange={() => void toggle(hook)} /> },
    {
      id: "deed",
      title: t("access.deed"),
      cell: (hook) => (
        <Button small kind="quiet" icon="forget" onClick={() => setGone(hook)}>
          {t("access.remove")}
        </Button>
      ),
    },
  ];
  return (
    <Listed
      list={list}
      rows={list.data?.webhooks}
      columns={columns}
      caption={t("access.webhooks")}
      none={t("access.no_webhooks")}
      add={t("access.make_webhook")}
      onAdd={() => setMaking(true)}
    >
      {isMaking && <NewWebhook onClose={() => setMaking(false)} />}
      {gone && (
        <Confirm
          title={t("access.remove_title")}
          text={t("access.remove_text")}
          action={t("access.remove")}
          onClose={() => setGone(null)}
          onConfirm={() => {
            setGone(null);
            void act(null, t("access.hook_removed"), () => send("DELETE", `/v1/webhooks/${part(gone.id)}`));
          }}
        />
      )}
    </Listed>
  );
}

function NewWebhook({ onClose }: { onClose: () => void }) {
  const [url, setUrl] = useState("https://");
  const [topics, setTopics] = useState<readonly string[]>(TOPICS.slice(0, 3));
  const [secret, setSecret] = useState<string | null>(null);
  async function make() {
    await act(null, t("access.hook_made"), async () => {
      const made = await send<{ secret: string }>("POST", "/v1/webhooks", { body: { url: url.trim(), topics } });
      setSecret(made.secret);
      return null;
    });
  }
  if (secret) return <Secret title={t("access.hook_made")} secret={secret} onClose={onClose} />;
  return (
    <Dialog
      title={t("access.make_webhook")}
      onClose={onClose}
      actions={
        <>
          <Button onClick={onClose}>{t("action.cancel")}</Button>
          <Button kind="primary" onClick={make} disabled={!topics.length}>
            {t("access.make")}
          </Button>
        </>
      }
    >
      <Input label={t("access.url")} value={url} onInput={setUrl} hint={t("access.url_hint")} />
      <fieldset class="checks">
        <legend>{t("access.topics")}</legend>
        {TOPICS.map((topic) => (
          <Check
            key={topic}
            label={named("topic", topic)}
            checked={topics.includes(topic)}
            onChange={(isOn) => setTopics(isOn ? [...topics, topic] : topics.filter((item) => item !== topic))}
          />
        ))}
      </fieldset>
    </Dialog>
  );
}

function Audit() {
  const log = useLoad("audit", (signal) => read<{ acts: Act[] }>("/v1/audit", { limit: ACTS }, signal));
  const columns: Column<Act>[] = [
    {
      id: "at",
      title: t("access.at"),
      cell: (item) => (
        <time dateTime={item.at} title={dayAndTime(item.at)}>
          {relative(item.at)}
        </time>
      ),
    },
    { id: "actor", title: t("access.actor"), cell: (item) => <code>{item.actor}</code> },
    { id: "action", title: t("access.action"), cell: (item) => <code>{item.action}</code> },
    { id: "target", title: t("access.target"), wideOnly: true, cell: (item) => <Said text={item.target ?? "–"} cut={50} /> },
    { id: "outcome", title: t("access.outcome"), cell: (item) => <span class="badge">{named("outcome", item.outcome)}</span> },
  ];
  return <Listed list={log} rows={log.data?.acts} columns={columns} caption={t("access.audit")} none={t("access.no_acts")} />;
}
