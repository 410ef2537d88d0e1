/** Asks for a key where the service wants one. */
import { useState } from "preact/hooks";
import { Button } from "../parts/button";
import { Input } from "../parts/fields";
import { Mark } from "../parts/icons";
import { t } from "../i18n";
import { keepKey, refusal } from "../state/session";
import { refresh } from "../state/connection";
import { Looks } from "./looks";

export function SignIn() {
  const [key, setKey] = useState("");
  function submit(event: SubmitEvent) {
    event.preventDefault();
    if (!key.trim()) return;
    refusal.value = null;
    keepKey(key.trim());
    refresh();
  }
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <div class="brand">
          <Mark size={34} />
          <h1>Ebbing</h1>
        </div>
        <p class="lead">{t("signin.lead")}</p>
        {refusal.value && (
          <p class="refusal" role="alert">
            {t(`signin.${refusal.value}`)}
          </p>
        )}
        <Input
          label={t("signin.key")}
          type="password"
          value={key}
          onInput={setKey}
          invalid={refusal.value !== null}
          hint={t("signin.hint")}
          autofocus
        />
        <Button kind="primary" type="submit">
          {t("signin.enter")}
        </Button>
      </form>
      <Looks />
    </main>
  );
}
