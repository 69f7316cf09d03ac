// The list of pages is docs/README.md: a heading begins a group, and every row of a
// table begins with a link to a page, which for one that git does not keep is its
// address on the site. Pages of docs/dev are read in the repository.
import { readFileSync } from "node:fs";
import { join } from "node:path/posix";

export const address = "https://c3po-dev.github.io/c3po/";

export function pagesOf(docs) {
  const groups = [];
  for (const line of readFileSync(join(docs, "README.md"), "utf8").split("\n")) {
    const [, group] = line.match(/^## (.+)$/) ?? [];
    const [, text, link] = line.match(/^\| \[(.+?)\]\((\S+)\) \|/) ?? [];
    if (group) groups.push({ text: group, collapsed: false, items: [] });
    if (link && !link.startsWith("dev/")) groups.at(-1)?.items.push({ text, link: link.startsWith(address) ? link.replace(address, "/") : join("/docs", link).replace(/(README)?\.md$/, "") });
  }
  return groups;
}
