/** What the upkeep does: jobs in the background, and a round at a press or as a trial. */
import { useState } from "preact/hooks";
import { part, read, send } from "../api/client";
import { named, number, t, tn } from "../i18n";
import { dayAndTime, isoDay, plusDays, relative } from "../i18n/dates";
import { Button } from "../parts/button";
import { Input, Select } from "../parts/fields";
import { PageHead } from "../parts/page";
import { Empty, Failure, Loading } from "../parts/states";
import { Table, type Column } from "../parts/table";
import { Said } from "../parts/text";
import { act } from "../state/act";
import { useLoad } from "../state/load";

const STATES = ["", "waiting", "running", "done", "dead"] as const;
const JOBS = 50;

interface Job {
  id: number;
  kind: string;
  state: string;
  attempts: number;
  max_attempts: number;
  run_at: string;
  ended_at: string | null;
  last_error: string | null;
  user_id?: string;
  agent_id?: string;
  run_id?: string;
}

interface Jobs {
  jobs: Job[];
  counts: Record<string, Record<string, number>>;
}

interface Round {
  owners: number;
  steps: Record<string, Record<string, number>>;
  seconds: Record<string, number>;
  now: string;
  dry_run: boolean;
}

export function Maintenance() {
  return (
    <>
      <PageHead title={t("maintenance.title")} about={t("maintenance.about")} />
      <RoundCard />
      <JobList />
    </>
  );
}

function RoundCard() {
  const [by, setBy] = useState(isoDay(new Date()));
  const [round, setRound] = useState<Round | null>(null);
  const [isBusy, setBusy] = useState(false);
  async function run(isTrial: boolean) {
    setBusy(true);
    const now = isTrial ? new Date(`${by}T12:00:00`).toISOString() : null;
    await act(null, t(isTrial ? "maintenance.tried" : "maintenance.done"), async () => {
      setRound(await send<Round>("POST", "/v1/maintenance/runs", { body: { dry_run: isTrial, now } }));
      return null;
    });
    setBusy(false);
  }
  return (
    <section class="card">
      <h2>{t("maintenance.round")}</h2>
      <p class="hint">{t("maintenance.round_hint")}</p>
      <div class="toolbar">
        <Input
          label={t("maintenance.by")}
          type="date"
          value={by}
          onInput={setBy}
          min={isoDay(new Date())}
          max={isoDay(plusDays(new Date(), 3_650))}
        />
        <Button icon="clock" onClick={() => run(true)} disabled={isBusy}>
          {t("maintenance.try")}
        </Button>
        <Button kind="primary" icon="maintenance" onClick={() => run(false)} disabled={isBusy}>
          {t("maintenance.run")}
        </Button>
      </div>
      {isBusy && <Loading rows={2} />}
      {round && !isBusy && <RoundReport round={round} />}
    </section>
  );
}

interface StepRow {
  step: string;
  counts: [string, number][];
  seconds: number;
}

function RoundReport({ round }: { round: Round }) {
  const rows: StepRow[] = Object.entries(round.steps).map(([step, counts]) => ({
    step,
    counts: Object.entries(counts).filter(([, count]) => count > 0),
    seconds: round.seconds[step] ?? 0,
  }));
  const freed = rows.flatMap((row) => row.counts).reduce((sum, [name, count]) => sum + (name === "saved_bytes" ? count : 0), 0);
  const columns: Column<StepRow>[] = [
    { id: "step", title: t("maintenance.step"), cell: (row) => named("step", row.step) },
    {
      id: "did",
      title: t(round.dry_run ? "maintenance.would" : "maintenance.did"),
      cell: (row) =>
        row.counts.length ? row.counts.map(([name, count]) => `${named("count", name)}: ${number(count)}`).join(" · ") : "–",
    },
    { id: "seconds", title: t("maintenance.seconds"), numeric: true, cell: (row) => number(row.seconds, 2) },
  ];
  return (
    <div class="round">
      <p>
        {tn("maintenance.owners", round.owners)} · {t("maintenance.freed", { n: freed })}
      </p>
      <Table caption={t("maintenance.round")} columns={columns} rows={rows} rowKey={(row) => row.step} />
    </div>
  );
}

function JobList() {
  const [state, setState] = useState("");
  const jobs = useLoad(`jobs ${state}`, (signal) => read<Jobs>("/v1/jobs", { state, limit: JOBS }, signal));
  const retry = (job: Job) =>
    act(null, t("maintenance.retried"), async () => {
      await send("POST", `/v1/jobs/${part(String(job.id))}/retry`);
      return null;
    });
  const columns: Column<Job>[] = [
    { id: "kind", title: t("maintenance.kind"), cell: (job) => named("job", job.kind) },
    {
      id: "state",
      title: t("maintenance.state"),
      cell: (job) => <span class={`badge job-${job.state}`}>{named("job_state", job.state)}</span>,
    },
    { id: "whose", title: t("maintenance.whose"), cell: (job) => <Said text={job.user_id ?? job.agent_id ?? job.run_id ?? "–"} cut={40} /> },
    { id: "at", title: t("maintenance.at"), wideOnly: true, cell: (job) => <Moment at={job.ended_at ?? job.run_at} /> },
    { id: "error", title: t("maintenance.error"), wideOnly: true, cell: (job) => <Said text={job.last_error ?? "–"} cut={80} /> },
    {
      id: "retry",
      title: t("maintenance.deed"),
      cell: (job) =>
        job.state === "dead" ? (
          <Button small icon="restore" onClick={() => retry(job)}>
            {t("action.retry")}
          </Button>
        ) : (
          "–"
        ),
    },
  ];
  return (
    <section class="section">
      <h2>{t("maintenance.jobs")}</h2>
      <div class="toolbar">
        <Select
          label={t("maintenance.state")}
          quiet
          value={state}
          choices={STATES.map((value) => ({ value, label: value ? named("job_state", value) : t("maintenance.every_state") }))}
          onChange={setState}
        />
        {jobs.data && <p class="hint">{totals(jobs.data)}</p>}
      </div>
      {jobs.error && <Failure error={jobs.error} />}
      {!jobs.data && jobs.isLoading && <Loading rows={4} />}
      {jobs.data && !jobs.data.jobs.length && <Empty title={t("maintenance.no_jobs")} />}
      {jobs.data && jobs.data.jobs.length > 0 && (
        <Table caption={t("maintenance.jobs")} columns={columns} rows={jobs.data.jobs} rowKey={(job) => String(job.id)} />
      )}
    </section>
  );
}

function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={dayAndTime(at)}>
      {relative(at)}
    </time>
  );
}

function totals({ counts }: Jobs): string {
  const byState = new Map<string, number>();
  for (const states of Object.values(counts)) {
    for (const [state, count] of Object.entries(states)) byState.set(state, (byState.get(state) ?? 0) + count);
  }
  return [...byState].map(([state, count]) => `${named("job_state", state)}: ${number(count)}`).join(" · ");
}
