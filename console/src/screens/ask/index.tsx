/** Asks as an assistant would, and shows everything about the answer. */
import { useEffect, useState } from "preact/hooks";
import { ask, type AskBody } from "../../api/calls";
import { ServiceError } from "../../api/client";
import type { AskAnswer, Owner } from "../../api/types";
import { t } from "../../i18n";
import { Button } from "../../parts/button";
import { Check, Input } from "../../parts/fields";
import { PageHead } from "../../parts/page";
import { Empty, Failure, Loading } from "../../parts/states";
import { place, setQuery } from "../../state/router";
import { Run } from "./run";
import { bodyOf, SECOND, SettingsPanel, USUAL, type Settings } from "./settings";

interface Outcome {
  runs: { body: AskBody; answer: AskAnswer }[];
  error: ServiceError | null;
}

export function Ask({ owner }: { owner: Owner }) {
  const [query, setQueryText] = useState(place.value.query.get("q") ?? "");
  const [compares, setCompares] = useState(false);
  const [settings, setSettings] = useState<[Settings, Settings]>([USUAL, SECOND]);
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);

  async function run() {
    const text = query.trim();
    if (!text) return;
    setQuery({ q: text });
    setBusy(true);
    const bodies = (compares ? settings : settings.slice(0, 1)).map((item) => bodyOf(text, item));
    try {
      const answers = await Promise.all(bodies.map((body) => ask(owner, body)));
      setOutcome({ runs: bodies.flatMap((body, at) => (answers[at] ? [{ body, answer: answers[at] }] : [])), error: null });
    } catch (error) {
      if (error instanceof ServiceError) setOutcome({ runs: [], error });
    }
    setBusy(false);
  }
  useEffect(() => void run(), []);

  return (
    <>
      <PageHead owner={owner} title={t("ask.title")} about={t("ask.about")} />
      <form
        class="card ask-form"
        onSubmit={(event) => {
          event.preventDefault();
          void run();
        }}
      >
        <div class="ask-line">
          <Input label={t("ask.question")} quiet type="search" placeholder={t("ask.question")} value={query} onInput={setQueryText} autofocus />
          <Button kind="primary" type="submit" icon="ask" disabled={isBusy || !query.trim()}>
            {t("ask.action")}
          </Button>
        </div>
        <div class="panels">
          <SettingsPanel
            title={compares ? t("ask.first_run") : t("ask.settings")}
            settings={settings[0]}
            onChange={(first) => setSettings([first, settings[1]])}
          />
          {compares && (
            <SettingsPanel
              title={t("ask.second_run")}
              settings={settings[1]}
              onChange={(second) => setSettings([settings[0], second])}
            />
          )}
        </div>
        <Check label={t("ask.compare")} checked={compares} onChange={setCompares} />
      </form>
      {outcome?.error && <Failure error={outcome.error} retry={run} />}
      {isBusy && !outcome && <Loading />}
      {!outcome && !isBusy && <Empty title={t("ask.start")} />}
      {outcome && outcome.runs.length > 0 && <Runs owner={owner} outcome={outcome} />}
    </>
  );
}

function Runs({ owner, outcome }: { owner: Owner; outcome: Outcome }) {
  const ids = outcome.runs.map(({ answer }) => new Set(answer.memories.map((hit) => hit.id)));
  const isTwo = outcome.runs.length > 1;
  return (
    <div class={isTwo ? "runs two" : "runs"}>
      {outcome.runs.map(({ body, answer }, at) => (
        <Run
          key={at}
          owner={owner}
          title={t(at ? "ask.second_run" : "ask.first_run")}
          answer={answer}
          body={body}
          others={isTwo ? (ids[1 - at] ?? null) : null}
        />
      ))}
    </div>
  );
}
