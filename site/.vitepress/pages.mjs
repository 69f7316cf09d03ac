// The list of pages is the table in README.md: a bold row begins a group, every
// other begins with a link to a page.
import { readFileSync } from "node:fs";

export function pagesOf(readme) {
  const groups = [];
  for (const row of readFileSync(readme, "utf8").split("\n")) {
    const [, group] = row.match(/^\| \*\*(.+)\*\* \|/) ?? [];
    const [, text, page] = row.match(/^\| \[(.+?)\]\(([\w/-]+)\.md\) \|/) ?? [];
    if (group) groups.push({ text: group, items: [] });
    if (page) groups.at(-1)?.items.push({ text, link: `/${page}` });
  }
  return groups;
}
