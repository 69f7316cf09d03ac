// The first screen: what needs the person, and who waits for whom.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open, view } from "./browser.mjs";
import { fill, longName, settings } from "./realistic.mjs";
import { Rig, until } from "./rig.mjs";

describe("what needs the person", () => {
  let rig, browser, day, page;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"], settings);
    browser = await launch();
    day = await fill(rig, { messages: 30, thread: 10 });
    await until("one is overdue", async () => (await rig.person("stuck")).hold_ups[0].waits.some((w) => w.state === "timed_out"));
    ({ page } = await open(browser, rig));
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("one sentence says how things stand, and the most urgent is first", async () => {
    await page.getByText(/^4 need you, 1 overdue; answering api frees \d+ agents\.$/).waitFor();
    await page.waitForFunction(() => document.title.startsWith("(4) Questions"));
    const asked = await page.locator(".cards .card").evaluateAll((all) => all.map((c) => c.dataset.id));
    assert.deepEqual(asked, [day.asked.overdue, day.asked.soon, day.asked.named, day.asked.plain]);
    await page.locator(".card", { hasText: "Which spelling stays?" }).locator(".chip.overdue", { hasText: "overdue" }).waitFor();
    await page
      .locator(".card", { hasText: "legacy_total" })
      .locator(".chip.soon", { hasText: /[45] min left/ })
      .waitFor();
  });

  test("the reason, the task, the folder and the last messages are beside the question", async () => {
    const beside = page.locator(".card", { hasText: "May I drop orders.legacy_total?" }).getByRole("complementary", { name: "Background" });
    await beside.getByText("The migration drops a column that two old clients still read.").waitFor();
    await beside.getByText("Move api to the new orders schema").waitFor();
    await beside.getByText("/home/ana/src/api").waitFor();
    await beside.getByRole("link", { name: /from web.*Is the new column there yet\?/ }).waitFor();
  });

  test("mail that only informs is folded, and dealt with at once", async () => {
    assert.equal(await page.getByText("The copy of last night is 14 GiB.").isVisible(), false);
    await page.getByText("3 messages for your information").click();
    await page.getByText("The copy of last night is 14 GiB.").waitFor();
    await page.getByRole("button", { name: "All dealt with" }).click();
    await page.getByText("for your information").waitFor({ state: "detached" });
  });

  test("a choice is one key, can be taken back, and is sent after ten seconds", async () => {
    await page.locator("main").click({ position: { x: 5, y: 5 } });
    const card = page.locator(".card", { hasText: "May I drop orders.legacy_total?" });
    await page.keyboard.press("j");
    await page.locator(".card.chosen", { hasText: "legacy_total" }).locator("[data-choice][aria-disabled=false]").first().waitFor();
    await page.keyboard.press("1");
    await card.waitFor({ state: "detached" });
    await page.getByText("Answering api: drop it").waitFor();
    await page.keyboard.press("u");
    await card.locator("[data-choice][aria-disabled=false]").first().waitFor();
    assert.equal((await rig.person("human_show", { message_id: day.asked.soon })).state, "pending");
    await page.keyboard.press("2");
    await card.waitFor({ state: "detached" });
    assert.equal((await rig.person("human_show", { message_id: day.asked.soon })).state, "pending");
    await page.getByText("Answered api").waitFor({ timeout: 20_000 });
    assert.match((await rig.person("human_show", { message_id: day.asked.soon })).reply.response, /^Keep orders.legacy_total/);
  });

  test("a written answer that is taken back is still in its box, and one that is on its way is sent when the page goes", async () => {
    const box = page.getByLabel("Answer payments");
    await box.fill("Yes, rotate it.");
    await page.keyboard.press("Control+Enter");
    await page.getByRole("button", { name: "Undo" }).click();
    await box.waitFor();
    assert.equal(await box.inputValue(), "Yes, rotate it.");
    await box.focus();
    await page.keyboard.press("Control+Enter");
    await page.getByText("Answering payments").waitFor();
    await page.reload();
    await until("the answer is there", async () => (await rig.person("human_show", { message_id: day.asked.plain })).reply?.response === "Yes, rotate it.");
  });

  test("a link opens one question", async () => {
    await view(page, rig, "q", day.asked.named);
    await page.locator(".card:focus", { hasText: longName }).waitFor();
    await view(page, rig, "q", day.asked.plain);
    await page.getByText("no longer open").waitFor();
  });

  test("who waits for whom is a tree that ends at who has to move", async () => {
    for (const id of ["front", "middle", "base"]) await rig.as(id, "register_agent", {});
    await rig.as("middle", "send_message", { target: "base", message: "Is it built?" });
    const asked = await rig.as("front", "send_message", { target: "middle", message: "May I go on?" });
    await view(page, rig, "waiting");
    await page.getByRole("heading", { name: /^You hold up \d+ agents$/ }).waitFor();
    const tree = page.locator(".tree", { has: page.getByRole("heading", { name: "base holds up 2 agents" }) });
    await tree.locator(".depth1", { hasText: "middle waits for base" }).getByText("not read yet").waitFor();
    await tree.locator(".depth2", { hasText: "front waits for middle" }).waitFor();
    // Answered, the wait is gone.
    await rig.as("middle", "reply", { message_id: asked.id, response: "Yes." });
    await page.getByRole("heading", { name: "base holds up 1 agent", exact: true }).waitFor();
  });
});
