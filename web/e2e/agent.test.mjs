// An agent's page: what it does and how that is known, whom it waits for, and
// what it said last.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open, settled, view, violations } from "./browser.mjs";
import { fill, settings } from "./realistic.mjs";
import { Rig } from "./rig.mjs";

describe("an agent's page", () => {
  let rig, browser, day, page, wrong;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"], settings);
    browser = await launch();
    day = await fill(rig, { messages: 30, thread: 14 });
    ({ page, wrong } = await open(browser, rig));
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("says what it does, how that is known, its task and its folder", async () => {
    const waits = rig.as("web", "pending", { timeout: 60, after: 1e12, state: "working" }).catch(() => undefined);
    await view(page, rig, "agents", "web");
    await page.getByRole("heading", { name: "web", level: 1 }).waitFor();
    await page.locator(".now", { hasText: /working for [1-9]\d* s/ }).waitFor();
    await page.getByText(/^Its session says so since .+\. Its last call was/).waitFor();
    await page.getByText("Move web to the new orders schema").waitFor();
    await page.locator(".facts dd", { hasText: "/home/ana/src/web" }).waitFor();
    await rig.as("web", "register_agent", { type: "claude-code", cwd: "/home/ana/src/web" });
    void waits;
  });

  test("shows whom it waits for and who waits for it, and a wait goes when it is answered", async () => {
    await view(page, rig, "agents", "api");
    const waits = page.locator(".waits li");
    await waits.filter({ hasText: "It waits for you" }).getByText("min left").waitFor();
    await waits.filter({ hasText: "laptop/docs waits for it" }).getByText("not read yet").waitFor();
    assert.equal(
      await waits.filter({ hasText: "It waits for you" }).getByRole("link", { name: "Answer" }).getAttribute("href"),
      `#/q/${day.asked.soon}`.replaceAll("::", "%3A%3A"),
    );
    const mail = (await rig.as("api", "get_messages")).filter((m) => m.from_agent === "laptop/docs" && m.expects_reply);
    for (const m of mail) await rig.as("api", "reply", { message_id: m.id, response: "total_cents" });
    await waits.filter({ hasText: "laptop/docs waits for it" }).waitFor({ state: "detached" });
  });

  test("lists its conversations by their latest message, and a new one comes on top", async () => {
    await view(page, rig, "agents", "docs");
    await page.locator(".talks li").first().waitFor();
    await rig.as("docs", "send_message", { target: "api", message: "A last question before lunch" });
    await page.locator(".talks li").first().getByRole("link", { name: "A last question before lunch" }).waitFor();
    await page.locator(".talks li").first().getByRole("link", { name: "api" }).click();
    await page.getByRole("heading", { name: "api", level: 1 }).waitFor();
  });

  test("is linked from wherever an agent is named", async () => {
    const places = [
      [["questions"], page.locator(".card").first()],
      [["waiting"], page.locator(".wait").first()],
      [["conversations"], page.locator(".item").first()],
      [["conversations", day.thread], page.locator(".bubble").first()],
      [["overview"], page.locator(".plainlist li").first()],
    ];
    for (const [route, place] of places) {
      await view(page, rig, ...route);
      await settled(page); // what was kept of the list is drawn first, and may move once
      await place.locator('a[href^="#/agents/"]').first().click();
      await page.locator(".view-agent").waitFor();
    }
    // The rest of a row still opens its conversation.
    await view(page, rig, "conversations");
    const row = page.locator(".item").first();
    const { width } = await row.boundingBox();
    await row.click({ position: { x: width - 20, y: 20 } });
    await page.locator(".view-conversation").waitFor();
  });

  test("is paused with one key, and an unknown name is said to be unknown", async () => {
    await view(page, rig, "agents", "laptop/checkout-flow-end-to-end-tests-of-the-storefront");
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
    await page.keyboard.press("p");
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    await view(page, rig, "agents", "nobody-of-that-name");
    await page.getByRole("alert").getByText("nobody-of-that-name").waitFor();
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
  });
});
