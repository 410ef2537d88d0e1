/** Reads how long requests take from the service's metrics, which are in Prometheus' text format. */

export interface RouteTime {
  route: string;
  count: number;
  /** In seconds, as the next is. */
  mean: number;
  /** At most so long in 95 of 100 requests. */
  p95: number;
}

const LINE = /^ebbing_http_request_duration_seconds_(bucket|sum|count)\{([^}]*)\} (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"/g;
const SHARE = 0.95;

interface Histogram {
  sum: number;
  count: number;
  buckets: [number, number][];
}

/** The most used first. */
export function routeTimes(text: string): RouteTime[] {
  const byRoute = new Map<string, Histogram>();
  for (const line of text.split("\n")) {
    const [, kind, labels = "", value = ""] = LINE.exec(line) ?? [];
    if (!kind) continue;
    const named = new Map([...labels.matchAll(LABEL)].map(([, name = "", content = ""]) => [name, content]));
    const route = named.get("route") ?? "";
    const histogram = byRoute.get(route) ?? { sum: 0, count: 0, buckets: [] };
    byRoute.set(route, histogram);
    if (kind === "sum") histogram.sum = Number(value);
    else if (kind === "count") histogram.count = Number(value);
    else histogram.buckets.push([named.get("le") === "+Inf" ? Infinity : Number(named.get("le")), Number(value)]);
  }
  return [...byRoute]
    .filter(([route, { count }]) => count > 0 && route.startsWith("/v1/"))
    .map(([route, { sum, count, buckets }]) => ({
      route,
      count,
      mean: sum / count,
      p95: buckets.find(([, seen]) => seen >= SHARE * count)?.[0] ?? Infinity,
    }))
    .sort((a, b) => b.count - a.count);
}
