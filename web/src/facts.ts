import type { Cost, Fact, Trace } from "@c3po-dev/client";

// A Step is one of the six facts of a message, or how it ended otherwise.
export interface FactStep {
  name: string;
  at: string | undefined;
  why: string; // what it proves, or what it would
  bad?: boolean;
  done?: boolean; // it happened, though nobody knows when
}

function by(f: Fact | undefined | null): string {
  return [f?.route && `through ${f.route}`, f?.session && `to session ${f.session}`].filter(Boolean).join(", ");
}

function join(text: string, more: string): string {
  return more ? `${text} (${more})` : text;
}

// factsOf is what is proved of a message, each fact for itself.
export function factsOf(t: Trace): FactStep[] {
  const ended: FactStep =
    t.state === "pending" || t.state === "acked"
      ? { name: "acked", at: t.ended?.at, why: t.ended ? "Its reader has dealt with it" : "Its reader has not dealt with it yet" }
      : {
          name: t.reason ? `${t.state}: ${t.reason.replaceAll("_", " ")}` : t.state,
          at: t.ended?.at,
          why: t.ended ? "How it ended" : "How it ended; the time is not recorded",
          done: true,
          bad: t.state === "dead",
        };
  const times = t.deliveries > 1 ? `${t.deliveries} times` : "";
  return [
    { name: "accepted", at: t.accepted.at, why: t.accepted.durability === "fsync" ? "Stored, and on the disk" : "Stored in memory" },
    {
      name: "notified",
      at: t.notified[0]?.at,
      why: t.notified[0] ? join("A session was told that there is mail", by(t.notified[0])) : "No session was told of it yet",
    },
    {
      name: "served",
      at: t.served[0]?.at,
      why: t.served[0] ? join("Its text was given to a session", [by(t.served[0]), times].filter(Boolean).join(", ")) : "No session was given its text yet",
    },
    {
      name: "received",
      at: t.received?.at,
      why: t.received ? join("The client has taken it", by(t.received)) : "No client has said that it took it",
    },
    ended,
    {
      name: "answered",
      at: t.answered[0]?.at,
      bad: t.answered[0]?.unproved === true,
      why: t.answered[0]?.unproved
        ? "A reply in your name is stored, but no passkey has confirmed it: it is withheld"
        : t.answered[0]?.verdict
          ? `You ${t.answered[0].verdict}`
          : t.answered[0]
            ? "A reply is stored"
            : t.expects_reply
              ? "No reply is stored yet"
              : "Its sender expects no reply",
    },
  ];
}

// happened says that a fact is one.
export function happened(s: FactStep): boolean {
  return s.at !== undefined || s.done === true;
}

// latest is the fact that says how far a message has come.
export function latest(steps: FactStep[]): FactStep {
  return steps.findLast(happened) ?? steps[0]!;
}

// amount is what was used, as clients count it.
function amount({ usage: u }: Cost): string {
  const tokens = (u.input_tokens ?? 0) + (u.output_tokens ?? 0) + (u.cache_read_tokens ?? 0) + (u.cache_write_tokens ?? 0);
  const dollars = (u.micro_usd ?? 0) / 1e6;
  return tokens.toLocaleString("en-US") + " tokens" + (dollars ? `, $${dollars.toFixed(dollars < 0.01 ? 4 : 2)}` : "");
}

// costOf is what an answer and its conversation have cost; empty if there is no answer and
// nobody has said so.
export function costOf(t: Trace): string {
  const parts: string[] = [];
  if (t.cost) {
    parts.push(`Cost ${t.cost.shared ? "about " : ""}${amount(t.cost)}${t.cost.clients?.length ? `, as reported by ${t.cost.clients.join(" and ")}` : ""}.`);
  } else if (t.answered.length > 0 && t.id.split("::")[1] !== "human") {
    parts.push("Cost unknown.");
  }
  if (t.chain_cost && (!t.cost || amount(t.chain_cost) !== amount(t.cost))) {
    parts.push(`The whole conversation: ${amount(t.chain_cost)}, from ${t.chain_cost.messages === 1 ? "1 answer" : `${t.chain_cost.messages} answers`}.`);
  }
  return parts.join(" ");
}
