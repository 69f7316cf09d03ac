import { hidden, lookalike, rightToLeft } from "./hidden";
import type { OutOfQuota } from "@c3po-dev/client";

// Text of others is shown, never interpreted: it only ever becomes text nodes.
// Characters that do something instead of being seen are spelt out, but for what joins
// two pictographs to one. So are letters that make a word read as another one. What looks
// like such a mark and was written so has its bracket spelt out.
export function plain(text: string): string {
  return exact(text.replace(/⟨(?=U\+)/g, mark).replace(/[\p{L}\p{M}]+/gu, genuine));
}

// exact is the same for a request for permission, whose marks are the coordinator's.
export function exact(text: string): string {
  return text.replace(/\r\n/g, "\n").split(joiner).map(spelt).join("\u200d");
}

// inPlace is an exact text for where nobody knows how letters are ordered.
export function inPlace(text: string): string {
  return exact(text).replace(rightToLeft, (run) => [...run].map(mark).join(""));
}

function mark(c: string): string {
  return `⟨U+${c.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0")}⟩`;
}

// genuine is a word with the letters marked that make it read as Latin although it is not.
function genuine(word: string): string {
  const latin = word.replace(lookalike, "");
  return latin === word || !/^[A-Za-z\p{M}]*[A-Za-z][A-Za-z\p{M}]*$/u.test(latin) ? word : word.replace(lookalike, mark);
}

const joiner = /(?<=\p{Extended_Pictographic}[\u{1f3fb}-\u{1f3ff}]?)\u{200d}(?=\p{Extended_Pictographic})/u;

function spelt(text: string): string {
  return text.replace(hidden, mark);
}

// firstLines cuts a text that has more lines than can be read at a glance. A few
// more are shown whole: a button would take their place.
export function firstLines(text: string, most: number): string {
  const lines = text.split("\n");
  return lines.length <= most + 4 ? text : lines.slice(0, most).join("\n");
}

// age is a length of time as people say it, as c3po.Age says it elsewhere.
export function age(seconds: number): string {
  if (seconds < 60) return `${Math.max(0, Math.floor(seconds))} s`;
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 48 * 3600) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} days`;
}

function since(at: number, now: number): string {
  const seconds = (now - at) / 1000;
  return seconds < 10 ? "just now" : `${age(seconds)} ago`;
}

export function ago(at: string | undefined, now: number): string {
  if (!at || at.startsWith("0001")) return "never";
  return since(Date.parse(at), now);
}

const freshFor = 10_000; // how long what was read of an agent may be shown as if it were so now

// The words for a state, before and after its age.
const states: Record<string, [string, string?]> = {
  dialog: ["waiting at its terminal"],
  unarmed: ["idle", ", nothing wakes it"],
  stopped: ["idle", ", its user stopped it"],
  failed: ["idle", ", its last turn failed"],
  off: ["switched off"],
  unattended: ["run by a script"],
  unknown: ["no reaction"],
};

// standing says what is known of an agent and how old that is, as Agent.Standing says it
// elsewhere. If the agent was read long ago, nothing is said of now.
export function standing(
  a: {
    status: string;
    type?: string;
    state?: string;
    state_since?: string;
    last_seen: string;
    read: number;
    reachability?: string;
    out_of_quota?: Pick<OutOfQuota, "until" | "exact">;
  },
  now: number,
): string {
  const quota = a.out_of_quota;
  if (quota && a.reachability === "when_quota_returns" && now < Date.parse(quota.until)) {
    const left = age((Date.parse(quota.until) - now) / 1000);
    return quota.exact ? `out of quota for another ${left}` : `out of quota, tries again in ${left}`;
  }
  const seen = `seen ${ago(a.last_seen, now)}`;
  const fresh = now - a.read < freshFor;
  if (!a.state && a.status === "online") return `last call ${ago(a.last_seen, now)}`;
  if (!a.state) return fresh ? `${a.status}, ${seen}` : seen;
  const [before, after = ""] = states[a.state] ?? [plain(a.state)];
  if (!fresh) return `${before} ${since(a.read, now)}`;
  const lasting = a.state_since ? (a.read - Date.parse(a.state_since)) / 1000 : 0;
  return lasting < 1 ? before + after : `${before} for ${age(lasting)}${after}`;
}

// evidence says how it is known what an agent does, and since when it is so.
export function evidence(a: { status: string; state?: string; state_since?: string; alive: boolean | null; last_seen: string }, now: number): string {
  const called = `Its last call was ${ago(a.last_seen, now)}.`;
  const runs = a.alive === null ? "" : a.alive ? " Its process runs." : " Its process has ended.";
  if (!a.state) return `${a.status === "online" ? "No session of it says what it does." : "It has no session."} ${called}${runs}`;
  const since = a.state_since ? ` since ${moment(a.state_since)}` : "";
  return `${a.state === "unknown" ? `Its session does not react${since}.` : `Its session says so${since}.`} ${called}${runs}`;
}

// lastUsed is when a token was last used, as exactly as it is known: its use is noted
// once an hour.
export function lastUsed(noted: string | undefined, now: number): string {
  if (noted && !noted.startsWith("0001") && now - Date.parse(noted) < 3_600_000) return "within the hour";
  return ago(noted, now);
}

// A format is made once: making one takes longer than drawing a row.
const clockFormat = new Intl.DateTimeFormat([], { hour: "2-digit", minute: "2-digit", second: "2-digit", hour12: false });
const momentFormat = new Intl.DateTimeFormat([], { dateStyle: "medium", timeStyle: "short", hour12: false });

// sizeText is a number of bytes.
export function sizeText(bytes: number): string {
  for (const unit of ["bytes", "KiB", "MiB"]) {
    if (bytes < 1024) return unit === "bytes" ? `${bytes} bytes` : `${bytes.toFixed(1)} ${unit}`;
    bytes /= 1024;
  }
  return `${bytes.toFixed(1)} GiB`;
}

export function clock(at: string): string {
  return clockFormat.format(new Date(at));
}

export function moment(at: string | undefined): string {
  if (!at || at.startsWith("0001")) return "never";
  return momentFormat.format(new Date(at));
}

// due says when an answer is wanted.
export function due(at: string, now: number): string {
  const left = Date.parse(at) - now;
  if (left < 0) return `was due ${ago(at, now)}`;
  return left < 86400_000 ? `answer by ${clock(at).slice(0, 5)}` : `answer by ${moment(at)}`;
}

const words: Record<string, string> = {
  now: "wakes now",
  next_step: "at its next step",
  turn_end: "when its turn ends",
  soon: "within a minute",
  next_call: "when it next calls",
  when_person_returns: "when its person returns",
  when_resumed: "once resumed",
  when_retried: "at its next try, within 15 min",
  when_quota_returns: "once its quota is back",
  when_dialog_closes: "when its user answers a dialog",
  when_switched_on: "once switched on",
  next_session: "in its next session",
  starts_when_mailed: "starts when mailed",
  unknown: "unknown",
  waiting_for_human: "waits for you",
  offline: "offline",
};

// reach says in words what happens with mail that is sent now.
export function reach(reachability: string): string {
  return words[reachability] ?? plain(reachability);
}

const reasons: Record<string, string> = {
  now: "It waits for mail: what you send wakes it.",
  next_step: "It is at work and sees mail that asks something at its next step, other mail when its turn ends.",
  turn_end: "It is at work and sees this when its turn ends.",
  soon: "It is starting, or its user has just stopped it: mail wakes it within a minute.",
  next_call: "It has called lately and nothing of it listens, so nothing can wake it; it may have ended since.",
  when_retried:
    "Its last turn failed, as its model could not be asked. Its mail starts another after 5 and 15 seconds, 1, 5 and 15 minutes, and every 15 minutes from then on.",
  when_quota_returns: "It is out of quota, as its client says; its mail waits until that ends and wakes it then.",
  when_dialog_closes: "A dialog is open in its session; mail is read when its user has answered it.",
  when_switched_on: "Its user has switched c3po off there; mail is kept until it is switched on.",
  next_session: "A script runs it for its output and it hears of no mail; its next session reads it.",
  unknown: "Its session does not react, so nobody knows when it reads its mail.",
  when_person_returns: "It is idle and nothing can wake it; mail is kept until its person comes back.",
  when_resumed: "A person has paused it; mail is kept until it is resumed.",
  waiting_for_human: "It has asked a person and waits for the answer; other mail is kept.",
  starts_when_mailed: "Its session is closed. Its host resumes it for mail that expects an answer; other mail is kept.",
  offline: "No session of it is running; it reads its mail when it starts again.",
};

export function reachWhy(reachability: string): string {
  return reasons[reachability] ?? "";
}
