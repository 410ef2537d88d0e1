/** Sends requests to the service that this page came from, and to nobody else. */
import { isGone, serviceIsGone } from "../state/connection";
import { apiKey, refusal, signOut } from "../state/session";
import type { Owner, Problem } from "./types";

export type Params = Record<string, string | number | boolean | null | undefined>;

/** The service refused, or could not be reached (`code` is then `unreachable`). */
export class ServiceError extends Error {
  readonly status: number;
  readonly code: string;
  readonly hint: string;

  constructor(problem: Problem) {
    super(problem.detail);
    this.status = problem.status;
    this.code = problem.code;
    this.hint = problem.hint ?? "";
  }
}

interface Options {
  params?: Params;
  body?: unknown;
  signal?: AbortSignal;
}

export function read<T>(path: string, params?: Params, signal?: AbortSignal): Promise<T> {
  return send<T>("GET", path, { params, signal });
}

export async function send<T>(method: string, path: string, options: Options = {}): Promise<T> {
  const headers: Record<string, string> = { accept: "application/json" };
  if (apiKey.value) headers.authorization = `Bearer ${apiKey.value}`;
  if (options.body !== undefined) headers["content-type"] = "application/json";
  let answer: Response;
  try {
    answer = await fetch(path + queryOf(options.params), {
      method,
      headers,
      body: options.body === undefined ? undefined : JSON.stringify(options.body),
      signal: options.signal,
      cache: "no-store",
      credentials: "omit",
      redirect: "error",
    });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    serviceIsGone();
    throw new ServiceError({ status: 0, code: "unreachable", detail: "" });
  }
  isGone.value = false;
  if (!answer.ok) throw await refused(answer);
  return (await answer.json()) as T;
}

async function refused(answer: Response): Promise<ServiceError> {
  let problem: Problem = { status: answer.status, code: `http_${answer.status}`, detail: answer.statusText };
  try {
    problem = { ...problem, ...((await answer.json()) as Partial<Problem>) };
  } catch {
    // An answer of something between the service and this page.
  }
  if (answer.status === 401) signOut(apiKey.value ? "wrong_key" : refusal.value);
  return new ServiceError(problem);
}

function queryOf(params: Params | undefined): string {
  const pairs = Object.entries(params ?? {}).filter(([, value]) => value !== null && value !== undefined && value !== "");
  if (!pairs.length) return "";
  return `?${new URLSearchParams(pairs.map(([name, value]) => [name, String(value)])).toString()}`;
}

/** The ids by which the service knows an owner. */
export function idsOf(owner: Owner): Record<string, string> {
  return { [`${owner.kind}_id`]: owner.name };
}

/** The user of an owner, for routes about one memory. */
export function userOf(owner: Owner): { user_id?: string } {
  return owner.kind === "user" ? { user_id: owner.name } : {};
}

/** A part of a path; ids may hold any character. */
export function part(id: string): string {
  return encodeURIComponent(id);
}
