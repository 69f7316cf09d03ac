// The built site in Chromium, as wide as a phone: node --test check.test.mjs
import assert from "node:assert/strict";
import { readFile, readdir } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";
import { address } from "./.vitepress/pages.mjs";

const dist = new URL("dist/", import.meta.url).pathname;
const phone = { width: 390, height: 844 };
const kinds = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".json": "application/json" };

const base = new URL(address).pathname;

let server, browser, pages;

before(async () => {
  pages = (await readdir(dist, { recursive: true })).filter((name) => name.endsWith(".html") && name !== "404.html");
  server = createServer(async (request, response) => {
    const name = decodeURIComponent(new URL(request.url, "http://site").pathname);
    try {
      if (!name.startsWith(base)) throw new Error("it is another site's");
      const body = await readFile(join(dist, name.slice(base.length)));
      response.writeHead(200, { "Content-Type": kinds[extname(name)] ?? "application/octet-stream" }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  // The sandbox needs user namespaces, which containers often do not have.
  browser = await chromium.launch({ executablePath: process.env.C3PO_CHROMIUM || "/usr/bin/chromium", args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});

after(async () => {
  await browser?.close();
  server?.close();
});

// look opens a window as wide as a phone, and notes what must not happen in it.
async function look(options) {
  const at = `http://127.0.0.1:${server.address().port}${base}`;
  const context = await browser.newContext({ viewport: phone, reducedMotion: "reduce", ...options });
  context.setDefaultTimeout(60_000); // other work may be going on
  const page = await context.newPage();
  const wrong = [];
  page.on("pageerror", (error) => wrong.push(`${page.url()}: ${error}`));
  page.on("response", (answer) => answer.ok() || wrong.push(`${page.url()}: ${answer.status()} ${answer.url()}`));
  page.on("request", (request) => request.url().startsWith(at) || request.url().startsWith("data:") || wrong.push(`${page.url()}: asks for ${request.url()}`));
  return { at, page, wrong };
}

test("no page scrolls sideways on a phone", async () => {
  assert.ok(pages.length > 30, `only ${pages.length} pages were built`);
  // Pages are readable without scripts, and are there sooner.
  const { at, page, wrong } = await look({ javaScriptEnabled: false });
  for (const name of pages) {
    await page.goto(at + name, { waitUntil: "load" });
    // What stands out, unless something around it scrolls by itself.
    const wide = await page.evaluate(() => {
      const most = document.documentElement.clientWidth;
      const contained = (e) => e && (["auto", "scroll", "hidden"].includes(getComputedStyle(e).overflowX) || contained(e.parentElement));
      return {
        page: document.documentElement.scrollWidth - most,
        parts: [...document.querySelectorAll(".vp-doc *")].filter((e) => e.getBoundingClientRect().right > most + 1 && !contained(e)).map((e) => `${e.tagName} ${e.textContent.slice(0, 60)}`),
      };
    });
    if (wide.page > 0 || wide.parts.length > 0) wrong.push(`${name} is ${wide.page} px too wide: ${wide.parts.slice(0, 3).join("; ")}`);
    if ((await page.locator("h1").count()) !== 1) wrong.push(`${name} has not one title`);
  }
  assert.deepEqual(wrong, []);
});

test("menu and search lead to a page, and nothing is asked of another host", async () => {
  const { at, page, wrong } = await look();
  await page.goto(at + "index.html");
  await page.getByRole("button", { name: "Menu", exact: true }).click();
  await page.locator(".VPSidebar").getByRole("link", { name: "Concepts" }).click();
  await page.getByRole("heading", { name: "The life of a message" }).waitFor();
  await page.locator("#local-search button").click();
  await page.locator(".search-input").fill("dead letters");
  await page.locator(".results a").first().click();
  await page.locator(".vp-doc").getByText(/dead letter/i).first().waitFor();
  assert.deepEqual(wrong, []);
});
