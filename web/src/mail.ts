import { inPlace, plain } from "./plain";
import type { Agent, Message } from "@c3po-dev/client";

// An agent, and when the page read it.
export interface SeenAgent extends Agent {
  read: number;
}

// An id of a message names its sender and its reader: from::to::number.
export function ends(id: string): { from: string; to: string } {
  const [from = "", to = ""] = id.split("::");
  return { from, to };
}

// home is the view of an address: an agent, the person, a queue or a room. What
// the coordinator itself says comes from nowhere.
export function home(id: string): string[] | undefined {
  const room = id.indexOf("#");
  if (id === "" || id === "system") return undefined;
  if (id === "human") return ["questions"];
  if (room >= 0) return ["rooms", id.slice(room + 1)];
  if (id.startsWith("role/")) return ["queues", id.slice("role/".length)];
  return ["agents", id];
}

export function textOf(m: Message): string {
  return (m.kind === "reply" ? m.response : m.message) ?? "";
}

// allowOnce is the choice that allows a tool.
export const allowOnce = "Allow once";

const nameLength = 60; // of a command in one line

// decided names an answer that was taken: for a request for permission by what was
// allowed or denied, so that a person sees at once if it is another one than they meant.
export function decided(question: Message, text: string, choice: boolean): string {
  if (question.kind !== "approval") return `Answered ${plain(question.from_agent)}`;
  const asked = textOf(question);
  const input = asked.slice(asked.indexOf("\n\n") + 2).replace(/^\$ /, "");
  const [first = "", ...rest] = inPlace(input.trim()).split("\n");
  const line = first.replace(/\s+/g, " ");
  const short = line.length > nameLength ? line.slice(0, nameLength) : line;
  return `${choice && text === allowOnce ? "Allowed once" : "Denied"}: ${short}${short !== line || rest.length > 0 ? " …" : ""}`;
}

// answering is what an answer in a person's own words is called. To a request for
// permission it is a no: only the choice allows.
export function answering(question: Message): { label: string; button: string } {
  const asker = plain(question.from_agent);
  return question.kind === "approval" ? { label: `Deny ${asker} with these words`, button: "Deny" } : { label: `Answer ${asker}`, button: "Answer" };
}

// dressed says that a question speaks of permission, as only a request for it should.
export function dressed(question: Message): boolean {
  const words = [textOf(question), question.context ?? "", ...(question.choices ?? [])].join("\n");
  return question.kind !== "approval" && /allow|permi(t|ssion)|approv|deny/i.test(words);
}

// asking says whether an answer can allow a tool, in words that no agent writes.
export function asking(question: Message): string {
  return question.kind === "approval" ? "asks for permission" : "asks you";
}
