// A conversation reads like a good chat.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open, view, violations } from "./browser.mjs";
import { fill, settings } from "./realistic.mjs";
import { Rig } from "./rig.mjs";

describe("a conversation", () => {
  let rig, browser, day, page, wrong;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"], settings);
    browser = await launch();
    day = await fill(rig, { messages: 30, thread: 14 });
    ({ page, wrong } = await open(browser, rig, { permissions: ["clipboard-read", "clipboard-write"] }));
    await view(page, rig, "conversations", day.thread);
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("is called by its first line, and says who takes part and how long it is", async () => {
    await page.getByRole("heading", { name: "Which fields does GET /orders answer with?", level: 1 }).waitFor();
    await page.getByText("web, api · 14 messages").waitFor();
  });

  test("shows code, lists and tables as such, and as they came", async () => {
    const bubble = page.locator(".bubble", { hasText: "Change 13 touches the retry path" });
    await bubble.locator("pre", { hasText: "for attempt := range attempts { // 13" }).waitFor();
    await bubble.locator(".codehead", { hasText: "go" }).waitFor();
    await bubble.locator("td", { hasText: "tried again" }).waitFor();
    await bubble.locator("li strong", { hasText: "settings" }).waitFor();
    await bubble.getByRole("button", { name: "Copy code" }).click();
    assert.match(await page.evaluate(() => navigator.clipboard.readText()), /^for attempt := range attempts \{ \/\/ 13\n\tif err/);
    await bubble.getByRole("button", { name: "Raw" }).click();
    await bubble.getByText("```go").waitFor();
    assert.equal(await bubble.locator("pre, table").count(), 0);
    await bubble.getByRole("button", { name: "Formatted" }).click();
    await bubble.locator("pre").waitFor();
  });

  test("shows the start of a long message, and all of it when asked", async () => {
    const bubble = page.locator(".bubble", { hasText: "line 1: expected status" });
    await bubble.scrollIntoViewIfNeeded();
    assert.equal(await bubble.getByText("line 120:").count(), 0);
    await bubble.getByRole("button", { name: "Show all 120 lines" }).click();
    await bubble.getByText("line 120:").waitFor();
    const scrolls = await bubble.evaluate(
      (b) => [...b.querySelectorAll("*")].filter((e) => e.scrollHeight > e.clientHeight + 1 && /auto|scroll/.test(getComputedStyle(e).overflowY)).length,
    );
    assert.equal(scrolls, 0, "nothing scrolls within the conversation");
  });

  test("is listed with its first and last line, and found by them", async () => {
    const { page, context } = await open(browser, rig);
    await view(page, rig, "conversations");
    await page.getByLabel("Search conversations").fill("get /orders answer");
    const row = page.getByRole("listitem").filter({ hasText: "Which fields does GET /orders answer with?" });
    await row.getByText("Change 13 touches the retry path").waitFor();
    await row.getByText("14", { exact: true }).waitFor();
    assert.equal(await page.getByRole("listitem").count(), 1);
    await context.close();
  });

  test("loads and opens nothing of what others wrote", async () => {
    await rig.as("web", "send_message", {
      target: "api",
      thread: day.thread,
      expects_reply: false,
      message: "![x](https://example.org/x.png) [here](javascript:alert(1)) <img src=https://example.org/y onerror=alert(1)>",
    });
    await page.getByRole("button", { name: "1 new" }).click();
    const bubble = page.locator(".bubble", { hasText: "example.org" });
    await bubble.waitFor();
    assert.equal(await bubble.locator(".view-body a, img, script").count(), 0);
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
  });
});
