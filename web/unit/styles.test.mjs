// A view's styles reach no other view.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { test } from "node:test";
import postcss from "postcss";

const folder = new URL("../src/views/", import.meta.url);

test("every rule of a view's stylesheet is inside that view", () => {
  const sheets = readdirSync(folder).filter((name) => name.endsWith(".css"));
  assert.ok(sheets.length >= 7, "there are stylesheets of views");
  for (const name of sheets) {
    const root = `.view-${name.replace(".css", "").toLowerCase()}`;
    for (const node of postcss.parse(readFileSync(new URL(name, folder), "utf8")).nodes) {
      if (node.type === "comment" || (node.type === "atrule" && node.name === "keyframes")) continue;
      assert.equal(node.selector, root, `${name}: ${node.toString().slice(0, 80)}`);
    }
    assert.match(readFileSync(new URL(name.replace(".css", ".tsx"), folder), "utf8"), new RegExp(`className="[^"]*\\b${root.slice(1)}\\b`), name);
  }
});
