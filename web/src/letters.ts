import { plain } from "./plain";
import type { Letter } from "@c3po-dev/client";

const reasons: Record<string, string> = {
  expired: "nobody read it in time",
  corrupt: "its text was damaged",
  recipient_removed: "its reader was removed",
};

export function reasonWords(reason: string): string {
  return reasons[reason] ?? plain(reason);
}

export interface Group {
  name: string;
  to: string;
  reason: string;
  letters: Letter[];
  bounces: number; // the coordinator's own notes about mail that died before
}

// grouped puts letters together that have the same reader and died of the same,
// the group with the latest of them first.
export function grouped(letters: Letter[]): Group[] {
  const all = new Map<string, Group>();
  for (const l of [...letters].sort((a, b) => Date.parse(b.died_at) - Date.parse(a.died_at))) {
    const name = `${l.to_agent}\n${l.reason}`;
    const group = all.get(name) ?? { name, to: l.to_agent, reason: l.reason, letters: [], bounces: 0 };
    group.letters.push(l);
    if (l.kind === "bounce") group.bounces++;
    all.set(name, group);
  }
  return [...all.values()];
}

export type LetterRow = { kind: "group"; id: string; group: Group } | { kind: "letter"; id: string; letter: Letter };

// letterRows is the list as it is drawn: each group, and what is in those that are open.
export function letterRows(groups: Group[], open: ReadonlySet<string>): LetterRow[] {
  return groups.flatMap((group): LetterRow[] => [
    { kind: "group", id: `group ${group.name}`, group },
    ...(open.has(group.name) ? group.letters.map((letter): LetterRow => ({ kind: "letter", id: letter.id, letter })) : []),
  ]);
}
