/** The notes at the edge of the screen. */
import { t } from "../i18n";
import { dismiss, toasts, type Toast } from "../state/toasts";
import { Button, classes } from "./button";

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <Note key={toast.id} toast={toast} />
      ))}
    </div>
  );
}

function Note({ toast }: { toast: Toast }) {
  const { undo } = toast;
  return (
    <div class={classes("toast", toast.tone)}>
      <p>{toast.text}</p>
      {undo && (
        <Button
          small
          kind="quiet"
          icon="undo"
          onClick={() => {
            dismiss(toast.id);
            void undo();
          }}
        >
          {t("action.undo")}
        </Button>
      )}
      <Button small kind="quiet" icon="close" label={t("action.close")} onClick={() => dismiss(toast.id)} />
    </div>
  );
}
