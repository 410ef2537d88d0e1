/** Line icons on a grid of 24. They say nothing to a screen reader: the words beside them do. */

const PATHS = {
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7ZM2.5 20c.5-4 3-6 6.5-6s6 2 6.5 6M16 4.5a3.5 3.5 0 0 1 0 6.5M18.5 14.5c1.8.8 2.8 2.7 3 5.5",
  memories: "M4 6h16M4 12h16M4 18h10",
  timeline: "M6 3v18M6 7h.01M6 12h.01M6 17h.01M11 7h9M11 12h9M11 17h6",
  ask: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14ZM16 16l5 5",
  profile: "M5 3h14v18H5ZM9 16c.4-1.6 1.5-2.5 3-2.5s2.6.9 3 2.5M12 11a2 2 0 1 0 0-4 2 2 0 0 0 0 4Z",
  graph: "M6 8a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM18 11a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM9 21a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5ZM8.3 6.3l7.3 1.6M7 8l1.7 8M16.5 10.5l-6 6",
  maintenance: "M4 20l8-8M14 4a5 5 0 0 0 6 6l-8.5 8.5a2.1 2.1 0 0 1-3-3L17 7",
  health: "M3 12h4l2.5-7 5 14 2.5-7h4",
  access: "M8 15a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 11h9M18 11v4",
  review: "M5 4h14v16H5ZM9 12l2 2 4-4.5",
  pin: "M9 3h6l-1 7 3 3H7l3-3ZM12 13v8",
  edit: "M4 20l1-4L16 5l3 3L8 19Z",
  forget: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13M10.5 11v5M13.5 11v5",
  restore: "M4 12a8 8 0 1 0 2.5-5.8M4 4v4.5h4.5",
  undo: "M8 5L4 9l4 4M4 9h10a5.5 5.5 0 0 1 0 11h-4",
  close: "M6 6l12 12M18 6L6 18",
  check: "M5 12.5l4.5 4.5L19 7.5",
  open: "M9 6l6 6-6 6",
  back: "M15 6l-6 6 6 6",
  down: "M6 9l6 6 6-6",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM12 7v5l3.5 2",
  merge: "M6 4c0 6 6 5 6 11v5M18 4c0 6-6 5-6 11M9 17l3 3 3-3",
  conflict: "M4 8h13l-3-3M20 16H7l3 3",
  alert: "M12 4L2.5 20h19ZM12 10v4.5M12 17.2v.1",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8ZM12 2.5v2M12 19.5v2M2.5 12h2M19.5 12h2M5.3 5.3l1.4 1.4M17.3 17.3l1.4 1.4M5.3 18.7l1.4-1.4M17.3 6.7l1.4-1.4",
  moon: "M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5Z",
  system: "M3 5h18v11H3ZM9 20h6M12 16v4",
  language: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18ZM3 12h18M12 3c3 3 3.5 6 3.5 9s-.5 6-3.5 9c-3-3-3.5-6-3.5-9S9 6 12 3Z",
  signout: "M14 4H5v16h9M10 12h11M17.5 8.5L21 12l-3.5 3.5",
  add: "M12 5v14M5 12h14",
  filter: "M4 5h16l-6 8v6l-4-2v-4Z",
  up: "M7 11v9H4v-9ZM7 11l4-8c1.5 0 2.5 1 2.5 2.5V9H19l-1.5 11H7",
  downvote: "M7 13V4H4v9ZM7 13l4 8c1.5 0 2.5-1 2.5-2.5V15H19L17.5 4H7",
  menu: "M4 7h16M4 12h16M4 17h16",
  webhook: "M12 3v10M8 9l4 4 4-4M4 15v5h16v-5",
  docs: "M6 3h9l4 4v14H6ZM14 3v5h5M9 13h7M9 17h5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 18 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** A point on its way down the curve. */
export function Mark({ size = 26 }: { size?: number }) {
  return (
    <svg class="mark" width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect width="32" height="32" rx="8" />
      <path d="M5 9c5.5 0 7 12 22 14" />
      <circle cx="13.5" cy="15.5" r="3" />
    </svg>
  );
}
