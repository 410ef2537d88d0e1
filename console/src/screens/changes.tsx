/** Everything that was written about somebody, one entry for each call, and the way back. */
import { listChanges, undoChange } from "../api/calls";
import type { ChangeSet, Owner } from "../api/types";
import { named, t, tn } from "../i18n";
import { dayAndTime, relative } from "../i18n/dates";
import { Button } from "../parts/button";
import { More } from "../parts/more";
import { PageHead } from "../parts/page";
import { Empty, Failure, Loading } from "../parts/states";
import { act } from "../state/act";
import { usePages } from "../state/load";
import { may } from "../state/session";

const PAGE = 50;

export function Changes({ owner }: { owner: Owner }) {
  const pages = usePages(`changes ${owner.kind} ${owner.name}`, async (cursor, signal) => {
    const page = await listChanges(owner, { limit: PAGE, cursor }, signal);
    return { items: page.changes, next: page.next_cursor };
  });
  return (
    <>
      <PageHead owner={owner} title={t("changes.title")} about={t("changes.about")} />
      {pages.error && <Failure error={pages.error} />}
      {!pages.items.length && pages.isLoading && <Loading />}
      {!pages.items.length && !pages.isLoading && !pages.error && <Empty title={t("changes.none")} />}
      {pages.items.length > 0 && (
        <ul class="changes">
          {pages.items.map((change) => (
            <Row key={change.id} owner={owner} change={change} />
          ))}
        </ul>
      )}
      <More pages={pages} />
    </>
  );
}

function Row({ owner, change }: { owner: Owner; change: ChangeSet }) {
  const canUndo = may("write") && change.undone_by === null;
  return (
    <li class={change.undone_by ? "change is-undone" : "change"}>
      <span class="event">{named("cause", change.cause)}</span>
      <div>
        <p>{extent(change)}</p>
        <p class="hint">
          <time dateTime={change.at} title={relative(change.at)}>
            {dayAndTime(change.at)}
          </time>
        </p>
      </div>
      {canUndo ? (
        <Button small icon="undo" onClick={() => act(owner, t("toast.undone"), () => undoChange(owner, change.id))}>
          {t("action.undo")}
        </Button>
      ) : (
        <span class="hint">{change.undone_by && t("changes.undone")}</span>
      )}
    </li>
  );
}

function extent(change: ChangeSet): string {
  const parts = [
    change.inserted ? tn("changes.inserted", change.inserted) : "",
    change.revised ? tn("changes.revised", change.revised) : "",
    change.erased ? tn("changes.erased", change.erased) : "",
  ];
  return parts.filter(Boolean).join(" · ");
}
