import { useSyncExternalStore } from "react";
import { call, clientKey, request } from "./api";
import { keep } from "./kept";
import type { Message, Passkeys } from "@c3po-dev/client";

// An answer is on its way for ten seconds before it is sent, so that it can be
// taken back: what an agent has read cannot. A verdict on an approval is sent at once.
export const undoFor = 10_000;

export interface Answering {
  question: Message;
  text: string;
  choice: boolean;
  at: number; // when it is sent
  key: string;
  sent: boolean;
  timer: number;
}

let all: Answering[] = [];
const listeners = new Set<() => void>();
let onSent: (one: Answering, err: unknown) => void = () => undefined;

function set(next: Answering[]): void {
  all = next;
  for (const tell of listeners) tell();
}

export function useAnswering(): Answering[] {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => all,
  );
}

// whenSent is told what became of each answer.
export function whenSent(tell: (one: Answering, err: unknown) => void): () => void {
  onSent = tell;
  return () => {
    onSent = () => undefined;
  };
}

export function answer(question: Message, text: string, choice: boolean): void {
  const wait = question.kind === "approval" ? 0 : undoFor; // a tool waits for a verdict
  const one: Answering = { question, text, choice, at: Date.now() + wait, key: clientKey(), sent: false, timer: 0 };
  set([...all.filter((o) => o.question.id !== question.id), one]);
  if (wait === 0) void send(one);
  else {
    one.timer = window.setTimeout(() => void send(one), wait);
    void sendIfConfirmed(one);
  }
}

// sendIfConfirmed sends an answer at once that its person confirms with a passkey: it needs
// no time to be taken back. The coordinator is asked each time, because what needs a passkey
// may have been changed elsewhere.
async function sendIfConfirmed(one: Answering): Promise<void> {
  const known = await request<Passkeys>("GET", "/api/passkeys").catch(() => undefined);
  if (known && known.policy !== "off" && all.includes(one)) void send(one);
}

export function undo(one: Answering): void {
  if (one.sent) return;
  clearTimeout(one.timer);
  giveBack(one);
}

// giveBack puts the text where it was written.
function giveBack(one: Answering): void {
  if (!one.choice) keep(`draft ${one.question.id}`, one.text);
  set(all.filter((o) => o !== one));
}

export async function send(one: Answering, leaving = false): Promise<void> {
  if (one.sent) return;
  one.sent = true;
  clearTimeout(one.timer);
  set([...all]);
  try {
    await call("human_answer", { message_id: one.question.id, [one.choice ? "choice" : "response"]: one.text, client_key: one.key }, leaving);
    onSent(one, undefined);
  } catch (err) {
    giveBack(one);
    onSent(one, err);
  }
}

// settle forgets answers whose questions are no longer listed.
export function settle(listed: Message[]): void {
  const ids = new Set(listed.map((q) => q.id));
  const rest = all.filter((o) => !o.sent || ids.has(o.question.id));
  if (rest.length < all.length) set(rest);
}

// sendAll sends what is on its way: the page is about to go.
export function sendAll(): void {
  for (const one of all) void send(one, true);
}

window.addEventListener("pagehide", sendAll);
