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
    await bubble.locator("pre .key", { hasText: "return" }).waitFor();
    await bubble.locator("pre .com", { hasText: "// 13" }).waitFor();
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

  test("shows how far each message has come, and opens into its trace", async () => {
    await view(page, rig, "conversations", day.thread);
    const bubble = page.locator(".bubble", { hasText: "Turn 12:" });
    const signature = bubble.getByRole("button", { name: "Life of this message: accepted" });
    await signature.waitFor();
    assert.equal(await signature.locator(".fact").count(), 6);
    assert.equal(await signature.locator(".fact.done").count(), 1);
    await signature.click();
    await bubble.locator("li", { hasText: "No session was given its text yet" }).waitFor();
    await bubble.getByText("c3po trace web::api::").waitFor();
    await bubble.getByText(/^api reads its mail/).waitFor();
  });

  test("is drawn as a sequence across agents, with the conversation it follows from", async () => {
    for (const id of ["front", "middle", "base"]) await rig.as(id, "register_agent", {});
    await rig.as("front", "send_message", { target: "middle", message: "Which index does the list use?\n\nIt is slow." });
    await rig.as("middle", "get_messages");
    const passed = await rig.as("middle", "send_message", { target: "base", message: "Which index is documented?" });
    await rig.as("base", "reply", { message_id: passed.id, response: "orders_by_customer" });
    await view(page, rig, "conversations", passed.thread ?? passed.id, "sequence");
    const drawn = page.getByRole("region", { name: /messages between \d agents/ });
    await drawn.getByRole("link", { name: "middle to base: Which index is documented?" }).waitFor();
    await drawn.locator(".arrow.left.reply", { hasText: "orders_by_customer" }).waitFor();
    await drawn.locator(".earlier").getByRole("link", { name: "front to middle: before Which index does the list use?" }).waitFor();
    await rig.as("base", "send_message", { target: "middle", thread: passed.thread ?? passed.id, message: "And one more", expects_reply: false });
    await drawn.getByRole("link", { name: "base to middle: And one more" }).waitFor();
    await page.getByRole("link", { name: "Chat", exact: true }).click();
    await page.locator(".bubble", { hasText: "orders_by_customer" }).waitFor();
  });

  test("loads and opens nothing of what others wrote", async () => {
    await view(page, rig, "conversations", day.thread);
    await page.locator(".bubble", { hasText: "Turn 12:" }).waitFor();
    await rig.as("web", "send_message", {
      target: "api",
      thread: day.thread,
      expects_reply: false,
      message: "![x](https://example.org/x.png) [here](javascript:alert(1)) <img src=https://example.org/y onerror=alert(1)>",
    });
    const bubble = page.locator(".bubble", { hasText: "example.org" });
    await bubble.waitFor();
    assert.equal(await bubble.locator(".view-body a, img, script").count(), 0);
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
  });
});
