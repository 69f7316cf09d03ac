import { age, plain } from "./plain";
import type { HoldUp, Message, Stuck, Wait } from "@c3po-dev/client";

const soon = 15 * 60_000; // ms before a deadline at which it is urgent

// asks says whether an agent waits for the person's answer; other mail informs.
export function asks(m: Message): boolean {
  return m.kind === "escalation" || m.expects_reply === true;
}

// behindEach gives for each question how many agents wait behind its asker.
export function behindEach(stuck: Stuck | undefined): Map<string, number> {
  const you = stuck?.hold_ups.find((h) => h.agent === "human");
  return new Map((you?.waits ?? []).filter((w) => w.depth === 1).map((w) => [w.id, w.behind]));
}

function deadline(m: Message): number {
  return m.deadline ? Date.parse(m.deadline) : Infinity;
}

// firstOfEach is how many questions of one agent come before those of others: who asks
// a hundred times hides nobody.
const firstOfEach = 3;

// sorted puts what is overdue first, then by deadline, by how many agents wait
// behind it, and by age. An agent's further questions follow the first ones of all.
export function sorted(questions: Message[], behind: Map<string, number>): Message[] {
  const all = [...questions].sort(
    (a, b) =>
      compare(deadline(a), deadline(b)) || compare(behind.get(b.id) ?? 0, behind.get(a.id) ?? 0) || compare(Date.parse(a.timestamp), Date.parse(b.timestamp)),
  );
  const asked = new Map<string, number>();
  const further = new Set<Message>();
  for (const q of all) {
    const n = (asked.get(q.from_agent) ?? 0) + 1;
    asked.set(q.from_agent, n);
    if (n > firstOfEach) further.add(q);
  }
  return [...all.filter((q) => !further.has(q)), ...further];
}

function compare(a: number, b: number): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

export interface Countdown {
  text: string;
  urgency: "overdue" | "soon" | "later";
}

// remaining is a time to come. Under ten hours the minutes count: an hour more than is left
// would be a deadline missed, and one less no help.
function remaining(left: number): string {
  const minutes = Math.floor(left / 60_000);
  const whole = Math.floor(minutes / 60);
  return whole >= 1 && whole < 10 && minutes % 60 > 0 ? `${whole} h ${minutes % 60} min` : age(left / 1000);
}

export function countdown(at: string | undefined, now: number): Countdown | undefined {
  if (!at) return undefined;
  const left = Date.parse(at) - now;
  if (left <= 0) return { text: `overdue ${age(-left / 1000)}`, urgency: "overdue" };
  return { text: `${remaining(left)} left`, urgency: left <= soon ? "soon" : "later" };
}

// stateOfThings is the first line a person reads.
export function stateOfThings(questions: Message[], behind: Map<string, number>, now: number): string {
  const n = questions.length;
  if (n === 0) return "Nobody waits for you.";
  const overdue = questions.filter((q) => deadline(q) <= now).length;
  const most = questions.reduce<Message | undefined>((best, q) => ((behind.get(q.id) ?? 0) > (best ? (behind.get(best.id) ?? 0) : 0) ? q : best), undefined);
  const need = `${n} ${n === 1 ? "needs" : "need"} you${overdue > 0 ? `, ${overdue} overdue` : ""}`;
  if (!most) return `${need}.`;
  const freed = behind.get(most.id)!;
  return `${need}; answering ${plain(most.from_agent)} frees ${freed} ${freed === 1 ? "agent" : "agents"}.`;
}

// holdUpWords says who has to move, in the words of c3po stuck.
export function holdUpWords(h: HoldUp): string {
  const agents = h.behind === 1 ? "1 agent" : `${h.behind} agents`;
  if (h.agent === "human") return `You hold up ${agents}`;
  return h.circle ? `${plain(h.agent)} waits in a circle and holds up ${agents}` : `${plain(h.agent)} holds up ${agents}`;
}

// waitsOf gives for an agent whom it waits for, and who waits for it. An agent that
// waits for several is in several trees.
export function waitsOf(stuck: Stuck | undefined, agent: string): { out: Wait[]; in: Wait[] } {
  const all = new Map((stuck?.hold_ups ?? []).flatMap((h) => h.waits).map((w) => [w.id, w]));
  const waits = [...all.values()];
  return { out: waits.filter((w) => w.from_agent === agent), in: waits.filter((w) => w.to_agent === agent) };
}

// waitWords says how far a question has come.
export function waitWords(w: Wait): string {
  if (w.stalled) return "read, and no step for a while: stalled";
  if (w.silent) return w.state === "pending" ? "told of it several times, and not read" : "read, and its turn ended without an answer";
  if (w.state !== "pending") return "read, no answer yet";
  return w.to_agent === "human" ? "" : "not read yet";
}

export interface Talk {
  thread: string;
  last: Message;
  others: string[];
  count: number;
}

// talks puts an agent's recent messages together by conversation, the latest first.
export function talks(recent: Message[], agent: string): Talk[] {
  const all = new Map<string, Talk>();
  for (const m of recent) {
    const thread = m.thread || m.id;
    const before = all.get(thread);
    const others = [m.from_agent, m.to_agent ?? ""].filter((id) => id !== "" && id !== agent);
    all.delete(thread);
    all.set(thread, { thread, last: m, others: [...new Set([...(before?.others ?? []), ...others])], count: (before?.count ?? 0) + 1 });
  }
  return [...all.values()].reverse();
}
