// Rooms, and the queues that agents share.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open, view, violations } from "./browser.mjs";
import { fill, longName, settings } from "./realistic.mjs";
import { Rig } from "./rig.mjs";

describe("rooms and queues", () => {
  let rig, browser, page, wrong;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"], settings);
    browser = await launch();
    await fill(rig, { messages: 20, thread: 10 });
    ({ page, wrong } = await open(browser, rig));
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("a room shows what was posted, new posts at once, and the person posts too", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("r");
    const tile = page.getByRole("listitem").filter({ hasText: "#planning" });
    await tile.getByText("3 members · 5 posts").waitFor();
    await tile.getByRole("link", { name: "#planning" }).click();
    await page.getByRole("heading", { name: "#planning", level: 1 }).waitFor();
    const posts = page.locator(".posts li");
    await posts.filter({ hasText: longName }).locator("pre", { hasText: "range attempts" }).waitFor();
    await rig.as("web", "room_post", { room: "planning", message: "The list reads the new column" });
    await posts.first().getByText("The list reads the new column").waitFor();
    await page.getByLabel("Say in #planning").fill("Stop at table 4, please.");
    await page.keyboard.press("Control+Enter");
    await posts.first().getByText("Stop at table 4, please.").waitFor();
    assert.ok((await rig.as("api", "room_history", { room: "planning" })).some((m) => m.message === "Stop at table 4, please."));
  });

  test("a queue shows what waits in it, who holds it and who shares it", async () => {
    await view(page, rig, "rooms");
    await page.getByRole("listitem").filter({ hasText: "role:review" }).getByText("1 without an answer").waitFor();
    await page.getByRole("link", { name: "role:review" }).click();
    const waiting = page.getByRole("listitem").filter({ hasText: "Who is free to look at the rounding of totals?" });
    await waiting.getByText("nobody has claimed it").waitFor();
    await page.locator(".member", { hasText: longName }).waitFor();
    const [mail] = (await rig.as("web", "get_messages")).filter((m) => m.message?.includes("rounding of totals"));
    await rig.as("web", "claim", { message_id: mail.id });
    await waiting.getByText("held by web").waitFor();
    await rig.as("web", "reply", { message_id: mail.id, response: "I am." });
    await page.getByRole("heading", { name: "Nothing waits" }).waitFor();
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
  });
});
