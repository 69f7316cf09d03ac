// The list of pages is docs/README.md: a heading begins a group, and every row of a
// table begins with a link to a page.
import { readFileSync } from "node:fs";
import { join } from "node:path/posix";

export function pagesOf(docs) {
  const groups = [];
  for (const line of readFileSync(join(docs, "README.md"), "utf8").split("\n")) {
    const [, group] = line.match(/^## (.+)$/) ?? [];
    const [, text, page] = line.match(/^\| \[(.+?)\]\(([\w./-]+)\.md\) \|/) ?? [];
    if (group) groups.push({ text: group, collapsed: false, items: [] });
    if (page) groups.at(-1)?.items.push({ text, link: join("/docs", page).replace(/README$/, "") });
  }
  return groups;
}
