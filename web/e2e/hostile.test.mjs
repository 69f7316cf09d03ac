// What agents write is shown and never interpreted; and everybody can use the
// page.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { launch, open, settled, view, violations } from "./browser.mjs";
import { payloads } from "./payloads.mjs";
import { Rig } from "./rig.mjs";

const views = ["questions", "waiting", "agents", "conversations", "rooms", "overview", "network", "letters", "tokens"];

describe("what others wrote", () => {
  let rig, browser;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"]);
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("is text in every view: bodies, backgrounds, tasks, folders, names, choices", async () => {
    assert.ok(payloads.length >= 60, `${payloads.length} payloads`);
    let thread = "";
    for (const [n, text] of payloads.entries()) {
      const line = text.replaceAll(/[\r\n\t\0]/g, " ");
      await rig
        .as(`mallory-${n}`, "register_agent", {
          name: line.slice(0, 200),
          cwd: `/tmp/${line}`.slice(0, 4000),
          type: line.slice(0, 100),
          capabilities: [line.slice(0, 100)],
        })
        .catch((err) => assert.match(String(err), /INVALID_REQUEST/));
      await rig
        .as(`mallory-${n}`, "set_status", { status: "busy", current_task: line.slice(0, 200) })
        .catch((err) => assert.match(String(err), /INVALID_REQUEST/));
      const sent = await rig.as(`mallory-${n}`, "send_message", {
        target: "human",
        message: text,
        context: text,
        content_type: "text/html",
        ...(thread ? { thread } : {}),
      });
      thread ||= sent.thread;
      if (n % 10 === 0)
        await rig
          .as(`mallory-${n}`, "escalate_to_human", { reason: text, choices: [line.slice(0, 80)] })
          .catch((err) => assert.match(String(err), /INVALID_REQUEST/));
    }
    const { page, wrong } = await open(browser, rig, { admin: true });
    for (const name of views) {
      await view(page, rig, name);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await settled(page);
    }
    await view(page, rig, "conversations", thread);
    await page.locator(".bubble").first().waitFor();
    for (let n = 0; n < payloads.length; n += 7) {
      await view(page, rig, "agents", `mallory-${n}`);
      await page.locator(".view-agent .facts").waitFor();
    }
    await view(page, rig, "questions");
    await page.locator(".card").first().waitFor();
    assert.ok((await page.locator(".card").count()) >= payloads.length, "every payload is shown");
    assert.equal(await page.locator(".card :is(script, iframe, object, embed, img, svg, form[action], style, link, meta, base, video, audio)").count(), 0);
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
  });

  // The API lets no such id, room or file name in; a page must not rely on that.
  test("is text even where the coordinator itself would send it as an id, a room or a file name", async () => {
    const { page, wrong, context } = await open(browser, rig);
    const at = new Date().toISOString();
    const rows = payloads.map((text) => ({
      id: text,
      name: text,
      status: "online",
      availability: "available",
      alive: true,
      paused: text,
      reachability: text,
      capabilities: [text],
      type: text,
      host: text,
      cwd: text,
      rooms: [text],
      current_task: text,
      client: text,
      registered_at: at,
      last_seen: at,
    }));
    const messages = payloads.map((text) => ({
      id: text,
      from_agent: text,
      to_agent: text,
      room: text,
      kind: text,
      message: text,
      context: text,
      thread: text,
      priority: text,
      timestamp: at,
      expects_reply: true,
      choices: [text],
      metadata: { attachments: [{ name: text }] },
    }));
    const letters = payloads.map((text) => ({
      id: text,
      from_agent: text,
      to_agent: text,
      kind: text,
      thread: text,
      reason: text,
      bytes: 1,
      sent_at: at,
      died_at: at,
    }));
    const tickets = payloads.map((text) => ({ id: text, from_agent: text, to_agent: text, thread: text, state: text, created_at: at, seq: 1 }));
    const conversations = payloads.map((text) => ({
      thread: text,
      subject: text,
      last: text,
      last_from: text,
      last_at: at,
      turns: 2,
      from_agent: text,
      to_agent: text,
      state: text,
    }));
    const wait = { thread: "x", state: "pending", since: at, questions: 1, depth: 1, behind: 0 };
    const events = payloads.map((text, n) => ({ seq: n + 1, kind: "accepted", agent: text, message_id: `${text}::b::1`, at }));
    for (const [name, value] of Object.entries({
      list_agents: rows,
      human_list: messages,
      get_thread: messages,
      dead_letters: letters,
      tickets,
      conversations,
      tail_log: { events, at: "1:1" },
      get_agent_status: rows[0],
      room_list: payloads.map((text) => ({ room: text, visibility: text, creator: text, members: 1, posts: 1, joined: false, created: at })),
      room_history: messages,
      search: payloads.map((text) => ({ id: text, thread: text, from_agent: text, to_agent: text, at, excerpt: text })),
      dead_letter: { letter: letters[0], message: messages[0] },
      recent: messages,
      stuck: {
        hold_ups: payloads.map((text) => ({ agent: text, behind: 1, reachability: text, waits: [{ ...wait, id: text, from_agent: text, to_agent: text }] })),
      },
    })) {
      await page.route(`**/api/op/${name}`, (route) => route.fulfill({ json: value }));
    }
    for (const name of [...views, "conversations/x", "conversations/x/sequence", "agents/x", "rooms/x", "queues/x"]) {
      await page.goto(`${rig.url}/#/${name}`);
      await page.reload();
      await page.getByRole("heading", { level: 1 }).waitFor();
      await settled(page);
      for (const link of await page.locator("main a").evaluateAll((all) => all.map((a) => a.getAttribute("href")))) assert.match(link, /^#\//);
    }
    await page.keyboard.press("Control+k");
    await page.keyboard.type("anything");
    await page
      .getByRole("option", { name: /message$/ })
      .nth(19)
      .waitFor();
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
    assert.equal(await page.evaluate(() => window.pwned), undefined);
    await context.close();
  });
});

describe("everybody can use it", () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  let rig, browser;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"]);
    browser = await launch();
    await rig.as("api", "register_agent", { cwd: "/src/api" });
    await rig.as("web", "register_agent", {});
    await rig.as("web", "send_message", { target: "api", message: "hello" });
    await rig.as("api", "escalate_to_human", { reason: "Which one?", choices: ["this", "that"] });
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  for (const [name, options] of Object.entries({
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    phone: { viewport: { width: 390, height: 844 } },
  })) {
    test(`no serious violation of axe-core, ${name}`, async () => {
      const { page, context } = await open(browser, rig, { admin: true, ...options });
      for (const route of [...views, "agents/api", "conversations/" + encodeURIComponent((await rig.person("tickets", { which: "all" }))[0].thread)]) {
        await page.goto(`${rig.url}/#/${route}`);
        await page.getByRole("heading", { level: 1 }).waitFor();
        await settled(page);
        await page.evaluate(axe);
        const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
        const serious = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
        assert.deepEqual(
          serious.map((v) => `${route}: ${v.id} ${v.nodes[0].html} ${v.nodes[0].failureSummary}`),
          [],
        );
        if (name === "phone") assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${route} is wider than the phone`);
      }
      await context.close();
    });
  }
});
