import type { Agent, Ticket } from "@c3po-dev/client";

export interface Queue {
  name: string;
  members: Agent[];
  open: Ticket[];
}

const form = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;

// queuesOf gives the queues that agents share by their capabilities, and those that
// mail waits in, with the fullest first.
export function queuesOf(agents: Agent[], open: Ticket[]): Queue[] {
  const all = new Map<string, Queue>();
  const of = (name: string) => {
    const queue = all.get(name) ?? { name, members: [], open: [] };
    all.set(name, queue);
    return queue;
  };
  for (const a of agents) for (const c of new Set(a.capabilities)) if (form.test(c)) of(c).members.push(a);
  for (const t of open) if (t.to_agent.startsWith("role/")) of(t.to_agent.slice("role/".length)).open.push(t);
  return [...all.values()].sort((a, b) => b.open.length - a.open.length || a.name.localeCompare(b.name));
}
