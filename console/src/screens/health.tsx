/** How the service is: whether it is ready, how much it keeps, and how long it takes to answer. */
import { read } from "../api/client";
import { apiKey } from "../state/session";
import { named, number, percent, t } from "../i18n";
import { PageHead } from "../parts/page";
import { Failure, Loading } from "../parts/states";
import { Table, type Column } from "../parts/table";
import { useLoad } from "../state/load";
import { routeTimes, type RouteTime } from "./metrics";

interface Stats {
  owners: number;
  memories: number;
  episodes: number;
  deleted: number;
  is_scrubbed: boolean;
  by_layer: Record<string, number>;
  by_type: Record<string, number>;
  by_model: Record<string, number>;
  pending_extractions: { waiting: number; given_up: number };
}

interface Ready {
  ready: boolean;
  store: string;
  embedder: string;
  worker: string;
}

export function Health() {
  const stats = useLoad("stats", (signal) => read<Stats>("/v1/stats", {}, signal));
  const ready = useLoad("ready", readiness);
  const times = useLoad("metrics", metrics);
  return (
    <>
      <PageHead title={t("health.title")} about={t("health.about")} />
      {stats.error && <Failure error={stats.error} />}
      {!stats.data && stats.isLoading && <Loading rows={4} />}
      <div class="tiles">
        {ready.data && (
          <>
            <Tile label={t("health.ready")} value={t(ready.data.ready ? "health.yes" : "health.no")} isBad={!ready.data.ready} />
            <Tile label={t("health.embedder")} value={ready.data.embedder} />
            <Tile label={t("health.worker")} value={named("worker", ready.data.worker)} isBad={ready.data.worker === "restarting"} />
          </>
        )}
        {stats.data && (
          <>
            <Tile label={t("health.owners")} value={number(stats.data.owners)} />
            <Tile label={t("health.memories")} value={number(stats.data.memories)} />
            <Tile label={t("health.episodes")} value={number(stats.data.episodes)} />
            <Tile label={t("health.deleted")} value={number(stats.data.deleted)} />
            <Tile
              label={t("health.unread")}
              value={number(stats.data.pending_extractions.waiting)}
              isBad={stats.data.pending_extractions.given_up > 0}
            />
          </>
        )}
      </div>
      {stats.data && (
        <div class="columns">
          <Shares title={t("health.by_type")} group="type" counts={stats.data.by_type} />
          <Shares title={t("health.by_layer")} group="layer" counts={stats.data.by_layer} />
        </div>
      )}
      <section class="section">
        <h2>{t("health.times")}</h2>
        {times.data?.length === 0 && <p class="hint">{t("health.no_times")}</p>}
        {times.data && times.data.length > 0 && (
          <Table caption={t("health.times")} columns={columns()} rows={times.data} rowKey={(row) => row.route} />
        )}
      </section>
    </>
  );
}

export function Tile({ label, value, isBad }: { label: string; value: string; isBad?: boolean }) {
  return (
    <div class={isBad ? "tile is-bad" : "tile"}>
      <p class="tile-label">{label}</p>
      <p class="tile-value">{value}</p>
    </div>
  );
}

function Shares({ title, group, counts }: { title: string; group: string; counts: Record<string, number> }) {
  const entries = Object.entries(counts).sort(([, a], [, b]) => b - a);
  const all = entries.reduce((sum, [, count]) => sum + count, 0) || 1;
  return (
    <section class="card">
      <h2>{title}</h2>
      <dl class="shares">
        {entries.map(([name, count]) => (
          <div key={name}>
            <dt>{named(group, name)}</dt>
            <dd>
              <span class="share-bar" aria-hidden="true">
                <span style={{ width: percentOf(count / all) }} />
              </span>
              {number(count)} <span class="hint">{percent(count / all)}</span>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function percentOf(share: number): string {
  return `${Math.round(share * 100)}%`;
}

function columns(): Column<RouteTime>[] {
  const ms = (seconds: number) => t("health.ms", { n: Math.round(seconds * 1_000) });
  return [
    { id: "route", title: t("health.route"), cell: (row) => <code>{row.route}</code> },
    { id: "count", title: t("health.requests"), numeric: true, cell: (row) => number(row.count) },
    { id: "mean", title: t("health.mean"), numeric: true, cell: (row) => ms(row.mean) },
    { id: "most", title: t("health.p95"), numeric: true, cell: (row) => (row.p95 === Infinity ? "–" : `≤ ${ms(row.p95)}`) },
  ];
}

/** The answer is 503 while it is not ready, and says the same. */
async function readiness(signal: AbortSignal): Promise<Ready> {
  return (await (await fetch("/readyz", { signal })).json()) as Ready;
}

async function metrics(signal: AbortSignal): Promise<RouteTime[]> {
  const headers: Record<string, string> = apiKey.value ? { authorization: `Bearer ${apiKey.value}` } : {};
  const answer = await fetch("/metrics", { signal, headers });
  return answer.ok ? routeTimes(await answer.text()) : [];
}
