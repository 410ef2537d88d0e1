/** What the service answers, as far as the screens read it. */

export type OwnerKind = "user" | "agent" | "run";
export type Role = "read" | "write" | "admin";

export interface Owner {
  kind: OwnerKind;
  name: string;
}

export interface Me {
  tenant: string;
  role: Role;
  user_id: string | null;
  /** Whether no credential is needed. */
  is_open?: boolean;
  version?: string;
  now?: string;
  settings?: { forgotten_below?: number; grace_days?: number; undo_days?: number; forgetting_curve?: string };
}

export interface Person extends Owner {
  memories?: number;
  episodes?: number;
  first_at?: string | null;
  last_at?: string | null;
  /** Of the last twelve weeks, the oldest first. */
  added_by_week?: number[];
  reviews_waiting?: number;
}

export interface Freshness {
  /** From 1, just said or used, down to 0. */
  retention: number;
  fades_at: string | null;
  never_fades: boolean;
  since?: string;
  stability_days?: number;
  /** When it comes to each stage of fading. */
  stage_at?: Partial<Record<"keyword_only" | "shortened" | "archived", string>>;
}

export interface Memory {
  id: string;
  text: string;
  text_length?: number;
  score?: number;
  tags: string[];
  created_at: string;
  updated_at: string | null;
  kind: string;
  type: string;
  layer: string;
  language?: string;
  importance: number;
  confidence: number;
  strength: number;
  source_ids: string[];
  version: number;
  user_id?: string;
  agent_id?: string;
  run_id?: string;
  actor_id?: string;
  role?: string;
  stage?: string;
  attribute?: string;
  value?: string;
  trust?: string;
  valid_from?: string;
  valid_to?: string;
  expires_at?: string;
  mentions?: number;
  first_said_at?: string | null;
  is_compressed?: boolean;
  merged_into?: string | null;
  metadata?: Record<string, unknown> | null;
  deleted_at?: string | null;
  delete_reason?: string | null;
  superseded_by?: string | null;
  access_count?: number;
  last_accessed_at?: string | null;
  freshness?: Freshness;
}

export interface MemoryPage {
  memories: Memory[];
  next_cursor: string | null;
  total?: number;
  owner_known?: boolean;
}

export interface HistoryEntry {
  id: string;
  event: string;
  old_memory: string | null;
  new_memory: string | null;
  created_at: string | null;
  updated_at: string | null;
  actor_id: string | null;
  reason: string | null;
}

export interface Explained extends Memory {
  provenance: {
    source_ids: string[];
    source_text: string | null;
    method: string;
    rule: string | null;
    reason: string | null;
  };
  never_fades: boolean;
  access_count: number;
  last_accessed_at: string | null;
  usage_probability: { probability: number; horizon_days: number; is_learned: boolean } | null;
  deleted_at: string | null;
  delete_reason: string | null;
  superseded_by: string | null;
  history: HistoryEntry[];
  source_episodes?: { id: string; text: string; created_at: string; role?: string }[];
}

export interface Sources {
  mentions: number;
  first_said_at: string;
  last_said_at: string;
  sources: Memory[];
}

export interface Facets {
  types?: Record<string, number>;
  tags?: Record<string, number>;
  states?: Record<string, number>;
  kinds?: Record<string, number>;
  trust?: Record<string, number>;
  first_at?: string | null;
  last_at?: string | null;
}

export interface Retention {
  now: string;
  curve: string;
  forgotten_below: number;
  freshness: Freshness;
  points: [number, number][];
  uses: { at: string; signal: string; reason?: string | null }[];
  returned?: number;
  last_returned_at?: string | null;
}

export interface Entity {
  id: string;
  name: string;
  kind: string;
  aliases?: string[];
  memory_ids?: string[];
}

export interface Relation {
  subject: string;
  relation: string;
  object: string;
  memory_id: string;
  since: string;
  until: string | null;
}

export interface Neighbours {
  entities: Entity[];
  relations: Relation[];
  memories: { id: string; text: string; shares: string[] }[];
}

export interface Bucket {
  at: string;
  added: number;
  ended: number;
  gone: number;
}

export interface Timeline {
  bucket: "day" | "week" | "month";
  buckets: Bucket[];
  first_at: string | null;
  last_at: string | null;
}

export interface Difference {
  memory_id: string;
  event: string;
  at: string;
  before: string | null;
  after: string | null;
  reason: string | null;
}

export interface DifferencePage {
  differences: Difference[];
  next_cursor: string | null;
  total?: number;
}

export interface ForecastChange {
  memory_id: string;
  text: string;
  step: string;
  action: string;
  reason: string;
}

export interface Forecast {
  by: string;
  counts: Record<string, number>;
  changes: ForecastChange[];
  next_cursor: string | null;
  total?: number;
}

export interface ChangeSet {
  id: string;
  cause: string;
  at: string;
  inserted: number;
  revised: number;
  erased: number;
  undoes: string | null;
  undone_by: string | null;
}

export interface Changed {
  change_id: string | null;
}

export interface Hit extends Memory {
  score: number;
  retriever_scores?: Record<string, number>;
  why?: string;
  score_details?: Record<string, number>;
  duplicate_ids?: string[];
}

export interface LeftOut extends Hit {
  reason: string;
  of?: string | null;
}

export interface ContextMemory extends Memory {
  group: string;
  confidence_now?: number;
  score?: number;
  risk?: number;
}

export interface Context {
  /** The block, as it goes into a prompt. */
  context: string;
  tokens: number;
  query_strategy: string;
  memories: ContextMemory[];
}

export interface AskAnswer {
  memories: Hit[];
  left_out: LeftOut[];
  recall_id: string;
  search_ms?: number;
  failed_retrievers?: Record<string, string>;
  /** None for a day in the past. */
  context?: Context | null;
}

export interface Problem {
  status: number;
  code: string;
  detail: string;
  hint?: string;
}
