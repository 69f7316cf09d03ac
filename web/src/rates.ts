import type { Event } from "@c3po-dev/client";

export const step = 10_000; // ms of one point
export const points = 60;
export const series = [
  { name: "sent", kinds: ["accepted", "posted"], color: "--blue" },
  { name: "answered", kinds: ["answered"], color: "--green" },
  { name: "acked", kinds: ["acked"], color: "--gold" },
  { name: "dead", kinds: ["dead"], color: "--red" },
];

// counted gives for each series how many events there were in each step. A step
// that began before events are known has no number.
export function counted(events: Event[], since: number, now: number): (number | null)[][] {
  const first = Math.floor(now / step) - points + 1;
  const rows = series.map(() => Array.from({ length: points }, (_, at): number | null => ((first + at) * step < since && since !== 0 ? null : 0)));
  for (const e of events) {
    const at = Math.floor(Date.parse(e.at) / step) - first;
    if (at < 0 || at >= points) continue;
    series.forEach((s, n) => {
      const row = rows[n]!;
      if (s.kinds.includes(e.kind) && row[at] !== null) row[at] = row[at]! + 1;
    });
  }
  return rows;
}
