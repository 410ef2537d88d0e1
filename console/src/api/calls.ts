/** The routes that the screens of a person use, one function each. */
import { idsOf, part, read, send, userOf, type Params } from "./client";
import type {
  AskAnswer,
  Changed,
  ChangeSet,
  DifferencePage,
  Explained,
  Facets,
  Forecast,
  Me,
  Memory,
  MemoryPage,
  Neighbours,
  Owner,
  Person,
  Retention,
  Sources,
  Timeline,
} from "./types";

/** Characters of a text in a list. */
const SHORT = 600;

/** Characters of a text on the screen of one memory, until somebody wants to see all of it. */
const LONG = 2_000;

export const getMe = (signal?: AbortSignal): Promise<Me> => read("/v1/me", {}, signal);

export interface PeoplePage {
  owners: Person[];
  next_cursor: string | null;
  total?: number;
}

export const listPeople = (params: Params, signal?: AbortSignal): Promise<PeoplePage> =>
  read("/v1/owners", params, signal);

export interface ListBody {
  filters?: Record<string, unknown>;
  state?: "current" | "ended" | "faded" | "gone" | "all";
  order?: string;
  include?: "memories" | "episodes" | "all";
  as_of?: string;
  limit?: number;
  cursor?: string | null;
}

export const listMemories = (owner: Owner, body: ListBody, signal?: AbortSignal): Promise<MemoryPage> =>
  send("POST", "/v1/memories/list", { body: { ...idsOf(owner), max_text: SHORT, ...body }, signal });

export const getFacets = (owner: Owner, signal?: AbortSignal): Promise<Facets> =>
  read("/v1/facets", idsOf(owner), signal);

export const getTimeline = (owner: Owner, signal?: AbortSignal): Promise<Timeline> =>
  read("/v1/timeline", idsOf(owner), signal);

export const listDifferences = (owner: Owner, params: Params, signal?: AbortSignal): Promise<DifferencePage> =>
  read("/v1/differences", { ...idsOf(owner), max_text: SHORT, limit: 100, ...params }, signal);

export const getForecast = (owner: Owner, params: Params, signal?: AbortSignal): Promise<Forecast> =>
  read("/v1/forecast", { ...idsOf(owner), max_text: SHORT, limit: 100, ...params }, signal);

export const getRetention = (owner: Owner, id: string, days: number, signal?: AbortSignal): Promise<Retention> =>
  read(`/v1/memories/${part(id)}/retention`, { ...userOf(owner), days }, signal);

export const getNeighbours = (owner: Owner, id: string, signal?: AbortSignal): Promise<Neighbours> =>
  read(`/v1/memories/${part(id)}/neighbours`, { ...userOf(owner), max_text: SHORT }, signal);

export const getMemory = (owner: Owner, id: string, signal?: AbortSignal): Promise<Memory> =>
  read(`/v1/memories/${part(id)}`, userOf(owner), signal);

export const explainMemory = (owner: Owner, id: string, signal?: AbortSignal): Promise<Explained> =>
  read(`/v1/memories/${part(id)}/explain`, { ...userOf(owner), max_text: LONG }, signal);

export const getSources = (owner: Owner, id: string, signal?: AbortSignal): Promise<Sources> =>
  read(`/v1/memories/${part(id)}/sources`, { ...userOf(owner), max_text: SHORT }, signal);

export interface Edit {
  text?: string;
  tags?: string[];
}

export const updateMemory = (owner: Owner, id: string, body: Edit): Promise<Memory & Changed> =>
  send("PUT", `/v1/memories/${part(id)}`, { params: userOf(owner), body });

export const addMemory = (owner: Owner, text: string): Promise<Changed> =>
  send("POST", "/v1/memories", { body: { ...idsOf(owner), messages: text } });

export const forgetMemory = (owner: Owner, id: string, params: Params = {}): Promise<Changed> =>
  send("DELETE", `/v1/memories/${part(id)}`, { params: { ...userOf(owner), ...params } });

export const forgetMemories = (owner: Owner, ids: readonly string[]): Promise<Changed & { deleted: string[] }> =>
  send("POST", "/v1/memories/delete", { body: { ...idsOf(owner), ids } });

export const restoreMemory = (owner: Owner, id: string): Promise<Memory & Changed> =>
  send("POST", `/v1/memories/${part(id)}/restore`, { params: userOf(owner) });

export interface ChangePage {
  changes: ChangeSet[];
  next_cursor: string | null;
}

export const listChanges = (owner: Owner, params: Params, signal?: AbortSignal): Promise<ChangePage> =>
  read("/v1/changes", { ...idsOf(owner), ...params }, signal);

export const undoChange = (owner: Owner, changeId: string): Promise<Changed> =>
  send("POST", `/v1/changes/${part(changeId)}/undo`, { params: userOf(owner) });

export const giveFeedback = (
  owner: Owner,
  id: string,
  body: { signal: string; recall_id?: string },
): Promise<Changed & { counted: boolean }> =>
  send("POST", `/v1/memories/${part(id)}/feedback`, { params: userOf(owner), body });

export interface AskBody {
  query: string;
  top_k: number;
  threshold?: number;
  precise?: boolean;
  as_of?: string;
  max_tokens: number;
}

/** A question with everything about its answer. It leaves no trace. */
export const ask = (owner: Owner, body: AskBody): Promise<AskAnswer> =>
  send("POST", "/v1/ask", { body: { ...idsOf(owner), max_text: SHORT, ...body } });
