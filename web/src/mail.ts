import type { Agent, Message } from "./wire";

// An agent, and when the page read it.
export interface SeenAgent extends Agent {
  read: number;
}

// An id of a message names its sender and its reader: from::to::number.
export function ends(id: string): { from: string; to: string } {
  const [from = "", to = ""] = id.split("::");
  return { from, to };
}

export function textOf(m: Message): string {
  return (m.kind === "reply" ? m.response : m.message) ?? "";
}
