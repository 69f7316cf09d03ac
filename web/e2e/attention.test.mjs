// What reaches a person who looks elsewhere, and how they get anywhere at once.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, limit, open, settled, view, violations } from "./browser.mjs";
import { fill, longName, settings } from "./realistic.mjs";
import { Rig } from "./rig.mjs";

describe("a space without agents", () => {
  let rig, browser;
  before(async () => {
    rig = await Rig.start();
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("says in every view what to do next", async () => {
    const { page } = await open(browser, rig, { permissions: ["clipboard-read", "clipboard-write"] });
    await page.getByText("There are no agents yet.").waitFor();
    await page.getByRole("button", { name: "Copy" }).click();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), "c3po claude");
    const icon = () => page.locator('link[rel="icon"]').getAttribute("href");
    assert.equal(await icon(), "/assets/icon.svg");
    for (const [name, words] of Object.entries({
      agents: "Start one in the folder of a project",
      conversations: "Ask one yourself",
      waiting: "Nothing to do",
      rooms: "An agent that joins a room makes it",
      network: "Agents are here when they write to each other",
      letters: "Nothing to do",
    })) {
      await view(page, rig, name);
      await page.locator(".empty").getByText(words).waitFor();
    }
  });

  test("is left for another by its name, which is offered again", async () => {
    const { page } = await open(browser, rig);
    await rig.as("elsewhere", "register_agent", {}, "second");
    const box = page.getByLabel("Space");
    await box.fill("second");
    await page.keyboard.press("Enter");
    await page.locator(".line.live").waitFor();
    await view(page, rig, "agents");
    await page.getByRole("link", { name: /elsewhere/ }).waitFor();
    const offered = await page.locator("datalist option").evaluateAll((all) => all.map((o) => o.value));
    assert.ok(offered.includes("main") && offered.includes("second"), offered.join());
  });
});

describe("a person who looks elsewhere", () => {
  let rig, browser, page, wrong;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"], settings);
    browser = await launch();
    await fill(rig, { messages: 30, thread: 10 });
    ({ page, wrong } = await open(browser, rig, { permissions: ["notifications"] }));
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("sees the count in the icon and the title", async () => {
    await page.waitForFunction(() => document.title.startsWith("(4) "));
    const icon = await page.locator('link[rel="icon"]').getAttribute("href");
    assert.equal(icon, "/assets/icon-4.svg");
    assert.equal((await fetch(rig.url + icon)).headers.get("content-type"), "image/svg+xml");
  });

  test("is notified of a new question once, and the notification opens it", async () => {
    await page.addInitScript(() => {
      window.notes = [];
      const Real = window.Notification;
      window.Notification = class extends Real {
        constructor(title, options) {
          super(title, options);
          window.notes.push({ title, options, note: this });
        }
      };
      document.hasFocus = () => false;
    });
    await page.reload();
    await page.locator(".line.live").waitFor();
    await page.getByRole("button", { name: "Notify me of questions" }).click();
    await page.getByRole("button", { name: "Notifications are on" }).waitFor();
    await view(page, rig, "agents");
    const asked = await rig.as("build/linux", "escalate_to_human", { reason: "**Shall** I tag 2.4?\n\nThe tests are green." });
    await page.waitForFunction(() => window.notes.length > 0);
    await rig.as("web", "send_message", { target: "docs", message: "Apart", expects_reply: false });
    await settled(page);
    assert.deepEqual(await page.evaluate(() => window.notes.map((n) => [n.title, n.options.body, n.options.tag])), [
      ["build/linux asks you", "Shall I tag 2.4?", asked.message_id],
    ]);
    await page.evaluate(() => window.notes[0].note.onclick());
    await page.locator(".card:focus", { hasText: "build/linux" }).waitFor();
  });

  test("goes anywhere by Ctrl K and a few letters", async () => {
    const go = async (text, name) => {
      await page.keyboard.press("Control+k");
      await page.getByRole("combobox", { name: "Go to an agent" }).waitFor();
      await page.keyboard.type(text);
      await page.getByRole("option", { name, selected: true }).waitFor();
      await page.keyboard.press("Enter");
      await page.getByRole("dialog").waitFor({ state: "detached" });
    };
    await go("release pay", longName);
    await page.getByRole("heading", { name: longName, level: 1 }).waitFor();
    await go("get /orders", "Which fields does GET /orders answer with?");
    await page.getByRole("heading", { name: "Which fields does GET /orders answer with?", level: 1 }).waitFor();
    await go("plann", "#planning");
    await page.getByRole("heading", { name: "#planning", level: 1 }).waitFor();
    await go("dead", "Dead letters");
    await page.getByRole("heading", { name: "Dead letters", level: 1 }).waitFor();
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Go to an agent" }).fill("nothing of that name");
    await page.getByText("No name and no message has these words").waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  test("finds a message by words from its middle, wherever it was written", async () => {
    await rig.as("web", "send_message", { target: "docs", message: "Subject\n\nBelow, the word <b>quokka</b> and a *star*.", expects_reply: false });
    await rig.as("api", "room_post", { room: "planning", message: "Somebody saw a quokka." });
    await page.keyboard.press("Control+k");
    const began = Date.now();
    await page.keyboard.type("quokka");
    const found = page.getByRole("option", { name: /quokka/ });
    await found.filter({ hasText: "api in #planning" }).waitFor();
    limit("a message is found", Date.now() - began, 1000);
    await found.filter({ hasText: "web → docs" }).click();
    await page.locator(".bubble", { hasText: "the word <b>quokka</b>" }).waitFor();
  });

  test("is asked before everybody is paused", async () => {
    await view(page, rig, "agents");
    await page.getByRole("button", { name: "Pause all" }).click();
    await page.getByRole("dialog", { name: "Pause all agents?" }).getByRole("button", { name: "Let them work" }).click();
    assert.equal((await rig.person("get_agent_status", { agent_id: "web" })).paused, null);
    await page.getByRole("button", { name: "Pause all" }).click();
    await page.getByRole("button", { name: "Pause everybody" }).click();
    await page.getByText("Everybody is paused").waitFor();
    assert.notEqual((await rig.person("get_agent_status", { agent_id: "web" })).paused, null);
    // It stays in sight, also elsewhere and after a reload.
    await view(page, rig, "questions");
    await page.reload();
    const banner = page.locator(".banner.paused");
    await banner.getByText("Every agent is paused").waitFor();
    await banner.getByRole("button", { name: "Resume all" }).click();
    await page.getByText("Everybody is resumed").waitFor();
    await banner.waitFor({ state: "detached" });
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
  });
});
