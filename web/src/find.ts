// What the palette offers, and which of it fits what was typed.
export interface Target {
  id?: string; // of a message, of which several lead to one place
  kind: string; // view, agent, conversation, room, queue, message
  name: string;
  note: string;
  route: string[];
}

const maxFound = 30;

// fit says how well a text fits: the beginning is best, then the beginning of a
// word, then anywhere; 0 is not at all.
export function fit(text: string, wanted: string): number {
  const at = text.toLowerCase().indexOf(wanted);
  if (at < 0) return 0;
  if (at === 0) return 3;
  return /[^a-z0-9]/i.test(text[at - 1]!) ? 2 : 1;
}

// find gives what fits all the words, the best first; what fits as well stays in order.
export function find(targets: Target[], typed: string): Target[] {
  const words = typed.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return targets.slice(0, maxFound);
  return targets
    .map((t) => ({ t, score: words.map((w) => Math.max(2 * fit(t.name, w), fit(t.note, w), fit(t.kind, w))) }))
    .filter(({ score }) => score.every((s) => s > 0))
    .sort((a, b) => sum(b.score) - sum(a.score))
    .slice(0, maxFound)
    .map(({ t }) => t);
}

function sum(all: number[]): number {
  return all.reduce((a, b) => a + b, 0);
}
