/** Loads what a screen shows, and loads it anew when the service comes back or something was changed. */
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { ServiceError } from "../api/client";
import { epoch } from "./connection";

export interface Loaded<T> {
  data: T | null;
  error: ServiceError | null;
  isLoading: boolean;
  reload: () => void;
}

/**
 * Args:
 *   key: what the answer depends on. While a new answer comes, the old one stays on the screen if the key is the same.
 */
export function useLoad<T>(key: string, load: (signal: AbortSignal) => Promise<T>): Loaded<T> {
  const [state, setState] = useState<{ key: string; data: T | null; error: ServiceError | null }>({
    key,
    data: null,
    error: null,
  });
  const [isLoading, setLoading] = useState(true);
  const [turn, setTurn] = useState(0);
  const loader = useRef(load);
  loader.current = load;
  const version = epoch.value;

  useEffect(() => {
    const stop = new AbortController();
    setLoading(true);
    loader.current(stop.signal).then(
      (data) => {
        if (stop.signal.aborted) return;
        setState({ key, data, error: null });
        setLoading(false);
      },
      (error: unknown) => {
        if (stop.signal.aborted) return;
        setState((before) => ({ key, data: before.key === key ? before.data : null, error: asServiceError(error) }));
        setLoading(false);
      },
    );
    return () => stop.abort();
  }, [key, version, turn]);

  const reload = useCallback(() => setTurn((count) => count + 1), []);
  const isCurrent = state.key === key;
  return { data: isCurrent ? state.data : null, error: isCurrent ? state.error : null, isLoading, reload };
}

export interface Pages<T> {
  items: T[];
  total: number | null;
  error: ServiceError | null;
  isLoading: boolean;
  hasMore: boolean;
  more: () => void;
}

interface Page<T> {
  items: T[];
  next: string | null;
  total?: number | null;
}

/** Loads a list page by page. A change loads as many as were there before, so that the reader keeps their place. */
export function usePages<T>(
  key: string,
  load: (cursor: string | null, signal: AbortSignal) => Promise<Page<T>>,
): Pages<T> {
  const empty = { key, items: [] as T[], next: null as string | null, total: null as number | null };
  const [state, setState] = useState(empty);
  const [error, setError] = useState<ServiceError | null>(null);
  const [isLoading, setLoading] = useState(true);
  const loader = useRef(load);
  loader.current = load;
  const shown = useRef({ key, count: 0 });
  const stopper = useRef<AbortController | null>(null);
  const version = epoch.value;

  const run = useCallback(
    async (known: T[], from: string | null, wanted: number) => {
      stopper.current?.abort();
      const stop = (stopper.current = new AbortController());
      setLoading(true);
      try {
        let items = known;
        let next = from;
        let total: number | null | undefined;
        do {
          const page = await loader.current(next, stop.signal);
          if (stop.signal.aborted) return;
          items = [...items, ...page.items];
          next = page.next;
          total ??= page.total;
        } while (next !== null && items.length < wanted);
        shown.current = { key, count: items.length };
        setState((before) => ({ key, items, next, total: total ?? (known.length ? before.total : null) }));
        setError(null);
      } catch (problem) {
        if (stop.signal.aborted) return;
        setError(asServiceError(problem));
      }
      setLoading(false);
    },
    [key],
  );

  useEffect(() => {
    const before = shown.current.key === key ? shown.current.count : 0;
    void run([], null, before);
    return () => stopper.current?.abort();
  }, [key, version]);

  const current = state.key === key ? state : empty;
  const more = () => {
    if (current.next !== null && !isLoading) void run(current.items, current.next, 0);
  };
  return { items: current.items, total: current.total, error, isLoading, hasMore: current.next !== null, more };
}

function asServiceError(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return new ServiceError({ status: 0, code: "page", detail: String(error) });
}
