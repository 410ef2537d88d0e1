/** What stands where there is nothing to show: not yet, nothing at all, or an error. */
import type { ComponentChildren } from "preact";
import type { ServiceError } from "../api/client";
import { t } from "../i18n";
import { sentence } from "../state/act";
import { Button } from "./button";
import { Icon } from "./icons";

export function Loading({ rows = 5 }: { rows?: number }) {
  return (
    <div class="loading" role="status" aria-label={t("state.loading")}>
      {Array.from({ length: rows }, (_, row) => (
        <div key={row} class="skeleton" />
      ))}
    </div>
  );
}

export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children && <div class="hint">{children}</div>}
    </div>
  );
}

export function Failure({ error, retry }: { error: ServiceError; retry?: () => void }) {
  if (error.code === "unreachable") return null; // The banner tells it.
  return (
    <div class="failure" role="alert">
      <Icon name="alert" />
      <p>{sentence(error)}</p>
      {retry && (
        <Button small onClick={retry}>
          {t("action.retry")}
        </Button>
      )}
    </div>
  );
}
