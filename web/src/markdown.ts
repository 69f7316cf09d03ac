// What agents write is often markdown. It is parsed into values, and drawn as
// text nodes in our elements: no address in it is loaded or opened.

export type Inline = { kind: "text" | "code" | "bold"; text: string };

export type Block =
  | { kind: "code"; language: string; text: string }
  | { kind: "list"; ordered: boolean; items: Inline[][] }
  | { kind: "table"; head: Inline[][]; rows: Inline[][][] }
  | { kind: "heading" | "quote" | "paragraph"; text: Inline[] };

const fence = /^ {0,3}(`{3,}|~{3,})\s*([\w+#.-]*)[^`]*$/;
const bullet = /^ {0,3}[-*+]\s+(.*)$/;
const number = /^ {0,3}\d{1,4}[.)]\s+(.*)$/;
const heading = /^ {0,3}#{1,6}\s+(.*?)\s*#*$/;
const quote = /^ {0,3}>\s?(.*)$/;
const indented = /^(?: {4}|\t)(.*)$/;
const dashes = /^ {0,3}\|?\s*:?-{2,}:?\s*(\|\s*:?-{2,}:?\s*)*\|?\s*$/;
const maxSpans = 2000; // a text made of signs alone is shown as it is

// inline finds code, bold, and links, of which the address is shown.
export function inline(text: string): Inline[] {
  const found: Inline[] = [];
  const pattern = /(`+)([^`]+?)\1(?!`)|\*\*(?=\S)([^*\n]+?)\*\*|\[([^\][\n]{1,500})\]\(([^()\s]{1,2000})\)/g;
  let last = 0;
  for (const m of text.matchAll(pattern)) {
    if (found.length > maxSpans) break;
    if (m.index > last) found.push({ kind: "text", text: text.slice(last, m.index) });
    if (m[2] !== undefined) found.push({ kind: "code", text: m[2].length > 2 ? m[2].replace(/^ (.*) $/, "$1") : m[2] });
    else if (m[3] !== undefined) found.push({ kind: "bold", text: m[3] });
    else found.push({ kind: "text", text: m[4] === m[5] ? m[4]! : `${m[4]} (${m[5]})` });
    last = m.index + m[0].length;
  }
  if (last < text.length) found.push({ kind: "text", text: text.slice(last) });
  return found;
}

function cells(row: string): Inline[][] {
  return row
    .trim()
    .replace(/^\||\|$/g, "")
    .split("|")
    .map((cell) => inline(cell.trim()));
}

export function parseMarkdown(text: string): Block[] {
  const lines = text.replace(/\r\n/g, "\n").split("\n");
  const blocks: Block[] = [];
  let at = 0;
  const take = (pattern: RegExp): string[] => {
    const taken: string[] = [];
    for (let m; at < lines.length && (m = pattern.exec(lines[at]!)); at++) taken.push(m[1] ?? "");
    return taken;
  };
  const starts = (line: string) => line.trim() === "" || [fence, bullet, number, heading, quote].some((p) => p.test(line));
  while (at < lines.length) {
    const line = lines[at]!;
    const opened = fence.exec(line);
    if (line.trim() === "") at++;
    else if (opened) {
      const end = lines.findIndex((l, n) => n > at && l.trim().startsWith(opened[1]!) && /^[`~\s]+$/.test(l));
      const until = end < 0 ? lines.length : end;
      blocks.push({ kind: "code", language: opened[2] ?? "", text: lines.slice(at + 1, until).join("\n") });
      at = until + 1;
    } else if (indented.test(line)) blocks.push({ kind: "code", language: "", text: take(indented).join("\n") });
    else if (bullet.test(line)) blocks.push({ kind: "list", ordered: false, items: take(bullet).map(inline) });
    else if (number.test(line)) blocks.push({ kind: "list", ordered: true, items: take(number).map(inline) });
    else if (heading.test(line)) blocks.push({ kind: "heading", text: inline(heading.exec(lines[at++]!)![1]!) });
    else if (quote.test(line)) blocks.push({ kind: "quote", text: inline(take(quote).join("\n")) });
    else if (line.includes("|") && dashes.test(lines[at + 1] ?? "")) {
      const head = cells(line);
      at += 2;
      const rows: Inline[][][] = [];
      for (; at < lines.length && lines[at]!.includes("|"); at++) rows.push(cells(lines[at]!));
      blocks.push({ kind: "table", head, rows });
    } else {
      const from = at++;
      while (at < lines.length && !starts(lines[at]!)) at++;
      blocks.push({ kind: "paragraph", text: inline(lines.slice(from, at).join("\n")) });
    }
  }
  return blocks;
}

// subject is the first line that says something.
export function subject(text: string): string {
  const lines = text.split("\n");
  const says = lines.filter((l) => /[\p{L}\p{N}]/u.test(l));
  const first = says.find((l) => !/^\s*(```|~~~)/.test(l)) ?? says[0] ?? lines.find((l) => l.trim() !== "") ?? "";
  return first
    .replace(/^[\s#>*-]+/, "")
    .replace(/[*`]/g, "")
    .trim()
    .slice(0, 200);
}
