import { call } from "./api";
import { subject } from "./markdown";
import { textOf } from "./mail";
import type { Message } from "@c3po-dev/client";

const maxThreads = 8; // conversations that a chain is followed back through
const maxSteps = 300; // of each: more are no picture any more

// A Step is one message on its way from one lane to another.
export interface Step {
  id: string;
  from: number;
  to: number;
  text: string;
  at: string;
  reply: boolean;
  thread: string;
  earlier: boolean; // it is of a conversation that the shown one follows from
}

export interface Sequence {
  lanes: string[];
  steps: Step[];
  cut: boolean;
}

// readChain reads a conversation and the one it follows from: an agent that is asked
// and then asks another begins a conversation that follows from the first.
export async function readChain(thread: string): Promise<Message[][]> {
  const chain: Message[][] = [];
  const seen = new Set<string>();
  let next = thread;
  while (next && !seen.has(next) && chain.length < maxThreads) {
    seen.add(next);
    const { rows } = await call("get_thread", { thread: next, limit: maxSteps });
    const first = rows[0];
    if (!first) break;
    chain.push(rows);
    const trace = await call("trace", { message_id: first.id }).catch(() => undefined);
    next = trace?.follows ?? "";
  }
  return chain;
}

// sequence puts the messages of a chain in the order in which they were sent, and
// gives each agent a lane, in the order in which they first took part.
export function sequence(chain: Message[][]): Sequence {
  const shown = chain[0]?.[0]?.thread ?? chain[0]?.[0]?.id ?? "";
  const all = [...new Map(chain.flat().map((m) => [m.id, m])).values()].sort((a, b) => Date.parse(a.timestamp) - Date.parse(b.timestamp));
  const lanes: string[] = [];
  const lane = (id: string) => {
    if (!lanes.includes(id)) lanes.push(id);
    return lanes.indexOf(id);
  };
  const steps = all.map((m): Step => {
    const thread = m.thread || m.id;
    return {
      id: m.id,
      from: lane(m.from_agent),
      to: lane(m.to_agent || m.from_agent),
      text: subject(textOf(m)),
      at: m.timestamp,
      reply: m.kind === "reply",
      thread,
      earlier: thread !== shown,
    };
  });
  return { lanes, steps, cut: chain.some((rows) => rows.length >= maxSteps) };
}
