// What a browser reads before the first screen is there: the page, and the
// scripts and styles it names.
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const limit = 150 * 1024;
const dist = new URL("dist/", import.meta.url);
const page = readFileSync(new URL("index.html", dist), "utf8");
const files = ["index.html", ...[...page.matchAll(/(?:src|href)="\/(assets\/[^"]+\.(?:js|css))"/g)].map((m) => m[1])];
if (files.length < 3) throw new Error("the page names no script and no stylesheet");
const bytes = files.reduce((sum, name) => sum + gzipSync(readFileSync(new URL(name, dist))).length, 0);
console.log(`first screen: ${(bytes / 1024).toFixed(1)} KB gzipped in ${files.length} files (limit ${limit / 1024})`);
if (bytes > limit) process.exit(1);
