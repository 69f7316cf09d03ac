import { ends } from "./mail";
import type { Event, Stuck, Wait } from "@c3po-dev/client";

export const trafficWindow = 10 * 60_000; // ms

// A Way is what one address sends to another.
export interface Way {
  name: string;
  from: string;
  to: string;
  count: number; // messages within the window
  last: number; // when the latest was sent; 0 if none is known
  wait: Wait | undefined; // the question for whose answer the sender waits
}

// traffic counts messages by their direction. Ways on which somebody waits come
// first, then the busiest. What the coordinator itself says is none.
export function traffic(events: Event[], stuck: Stuck | undefined, now: number): Way[] {
  const ways = new Map<string, Way>();
  const way = (from: string, to: string) => {
    const name = `${from} → ${to}`;
    const known = ways.get(name) ?? { name, from, to, count: 0, last: 0, wait: undefined };
    ways.set(name, known);
    return known;
  };
  for (const e of events) {
    const { from, to } = ends(e.message_id ?? "");
    if (!from || !to || from === to || from === "system" || !["accepted", "answered", "posted"].includes(e.kind)) continue;
    const at = Date.parse(e.at);
    if (now - at > trafficWindow) continue;
    const w = way(from, to);
    w.count++;
    w.last = Math.max(w.last, at);
  }
  for (const wait of (stuck?.hold_ups ?? []).flatMap((h) => h.waits)) {
    const w = way(wait.from_agent, wait.to_agent);
    if (!w.wait || Date.parse(wait.since) < Date.parse(w.wait.since)) w.wait = wait;
  }
  return [...ways.values()].sort((a, b) => Number(b.wait !== undefined) - Number(a.wait !== undefined) || b.count - a.count || a.name.localeCompare(b.name));
}
