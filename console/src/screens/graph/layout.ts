/** Where the points of a graph stand: they push each other off, and relations pull. The same graph gives the same picture. */

export interface Point {
  id: string;
  x: number;
  y: number;
}

export interface Edge {
  from: string;
  to: string;
}

const ROUNDS = 220;
const REST = 170;
/** How wide the picture is against its height. */
const FLATTEN = 0.8;

export function layout(ids: readonly string[], edges: readonly Edge[], centre: string): Point[] {
  const points = ids.map((id, place) => {
    const angle = place * 2.399963; // The golden angle: no two start in one direction.
    const radius = id === centre ? 0 : 40 + 14 * Math.sqrt(place);
    return { id, x: Math.cos(angle) * radius, y: Math.sin(angle) * radius };
  });
  const byId = new Map(points.map((point) => [point.id, point]));
  const pairs = edges.flatMap(({ from, to }) => {
    const a = byId.get(from);
    const b = byId.get(to);
    return a && b && a !== b ? [[a, b] as const] : [];
  });
  for (let round = 0; round < ROUNDS; round++) {
    const heat = 12 * (1 - round / ROUNDS) + 0.3;
    const moves = new Map(points.map((point) => [point.id, { x: -point.x * 0.006, y: -point.y * 0.006 }]));
    for (const [place, a] of points.entries()) {
      for (const b of points.slice(place + 1)) push(moves, a, b, 16_000 / Math.max(200, distance(a, b) ** 2));
    }
    for (const [a, b] of pairs) push(moves, a, b, -(distance(a, b) - REST) * 0.045);
    for (const point of points) {
      if (point.id === centre) continue;
      const move = moves.get(point.id) ?? { x: 0, y: 0 };
      const length = Math.hypot(move.x, move.y) || 1;
      point.x += (move.x / length) * Math.min(length, heat);
      point.y += (move.y / length) * Math.min(length, heat);
    }
  }
  return points.map((point) => ({ ...point, y: point.y * FLATTEN }));
}

type Moves = Map<string, { x: number; y: number }>;

/** Moves two points apart; together, where the force is negative. */
function push(moves: Moves, a: Point, b: Point, force: number): void {
  const length = distance(a, b) || 1;
  const x = ((a.x - b.x) / length) * force;
  const y = ((a.y - b.y) / length) * force;
  const first = moves.get(a.id);
  const second = moves.get(b.id);
  if (first) (first.x += x), (first.y += y);
  if (second) (second.x -= x), (second.y -= y);
}

function distance(a: Point, b: Point): number {
  return Math.hypot(a.x - b.x, a.y - b.y);
}
