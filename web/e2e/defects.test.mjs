// What once was broken on realistic data stays mended.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { after, before, describe, test } from "node:test";
import { launch, open, settled, view } from "./browser.mjs";
import { fill, longChoice, settings } from "./realistic.mjs";
import { Rig, until } from "./rig.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const phone = { width: 390, height: 844 };

describe("a working day", () => {
  let rig, browser, day;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"], settings);
    browser = await launch();
    day = await fill(rig);
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("no view scrolls sideways, on a phone, a tablet or a screen", async () => {
    for (const width of [390, 1024, 1440]) {
      const { page, context } = await open(browser, rig, { admin: true, viewport: { ...phone, width } });
      for (const route of [
        ["questions"],
        ["waiting"],
        ["agents"],
        ["agents", "api"],
        ["conversations"],
        ["conversations", day.thread],
        ["conversations", day.thread, "sequence"],
        ["rooms"],
        ["rooms", "planning"],
        ["queues", "review"],
        ["overview"],
        ["network"],
        ["letters"],
      ]) {
        await view(page, rig, ...route);
        await settled(page);
        const wide = await page.evaluate(() =>
          [...document.querySelectorAll("html, main, main *, dialog, dialog *")]
            .filter(
              (e) => e.scrollWidth > e.clientWidth + 1 && /auto|scroll/.test(getComputedStyle(e).overflowX) && !e.matches("pre, .tablebox, .view-sequence"),
            )
            .map((e) => `${e.tagName} ${e.className}: ${e.scrollWidth} in ${e.clientWidth}`),
        );
        assert.deepEqual(wide, [], `${route[0]} at ${width}`);
      }
      await context.close();
    }
  });

  test("a long choice is readable to its end on a phone", async () => {
    const { page, context } = await open(browser, rig, { viewport: phone });
    const choice = page.getByRole("button", { name: longChoice });
    await choice.waitFor();
    assert.ok(
      await choice.evaluate((b) =>
        [b, ...b.querySelectorAll("*")].every((e) => e.scrollWidth <= e.clientWidth + 1 || getComputedStyle(e).display === "inline"),
      ),
      "nothing of it is cut",
    );
    await context.close();
  });

  for (const theme of ["light", "dark"]) {
    test(`axe finds nothing serious, ${theme}`, async () => {
      for (const width of [390, 1024, 1440]) {
        const { page, context } = await open(browser, rig, { admin: true, colorScheme: theme, viewport: { ...phone, width } });
        for (const route of [
          ["questions"],
          ["agents"],
          ["agents", "api"],
          ["conversations"],
          ["conversations", day.thread],
          ["conversations", day.thread, "sequence"],
          ["rooms"],
          ["rooms", "planning"],
          ["queues", "review"],
          ["overview"],
          ["network"],
          ["letters"],
          ["tokens"],
        ]) {
          await view(page, rig, ...route);
          await settled(page);
          await page.evaluate(axe);
          const found = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
          const serious = found.violations.filter((v) => v.impact === "serious" || v.impact === "critical");
          assert.deepEqual(
            serious.map((v) => `${route[0]} at ${width}: ${v.id} ${v.nodes[0].html} ${v.nodes[0].failureSummary}`),
            [],
          );
        }
        await context.close();
      }
    });
  }

  test("a view reads next to nothing while others talk", async () => {
    const { page, context } = await open(browser, rig);
    let bytes = 0;
    page.on("requestfinished", async (r) => {
      if (!r.url().includes("/api/op/")) return;
      const { responseBodySize } = await r.sizes();
      bytes += responseBodySize;
    });
    const events = 40;
    for (const [most, ...route] of [
      [64, "conversations", day.thread], // nothing of it has changed
      [1024, "questions"],
      [1024, "agents", "payments"],
      [1024, "rooms", "planning"],
      [1024, "agents"],
      [1024, "conversations"],
    ]) {
      await view(page, rig, ...route);
      await settled(page);
      await page.waitForTimeout(1000);
      bytes = 0;
      // The same text once more to whoever has not read it is the same message.
      for (let n = 0; n < events; n++)
        await rig.as("nas/meshtastic", "send_message", { target: "build/linux", message: `${route} ${n}`, expects_reply: false });
      await page.waitForTimeout(1500);
      console.log(`# bytes for each unrelated event, ${route.join(" ")}: ${Math.round(bytes / events)}`);
      assert.ok(bytes / events <= most, `${route.join(" ")}: ${bytes} bytes for ${events} events of others`);
    }
    await context.close();
  });

  test("a new message leaves a reader where they are, and follows one at the end", async () => {
    const { page, context } = await open(browser, rig);
    await view(page, rig, "conversations", day.thread);
    await page.locator(".life .done").first().waitFor();
    await settled(page);
    const box = page.locator(".view-conversation .scroll");
    const fromEnd = () => box.evaluate((e) => e.scrollHeight - e.clientHeight - e.scrollTop);
    await until("the end is in sight", async () => (await fromEnd()) < 3, 5000);
    await rig.as("web", "send_message", { target: "api", thread: day.thread, message: "said at the end", expects_reply: false });
    await page.getByText("said at the end").waitFor();
    await page.locator(".bubble", { hasText: "said at the end" }).locator(".life .done").first().waitFor();
    await until("the end is still in sight", async () => (await fromEnd()) < 3, 5000);
    // Whoever reads above is not moved.
    await box.evaluate((e) => (e.scrollTop = 1000));
    await page.waitForTimeout(700);
    const before = await box.evaluate((e) => e.scrollTop);
    await rig.as("api", "send_message", { target: "web", thread: day.thread, message: "said while reading above", expects_reply: false });
    await page.getByRole("button", { name: "1 new" }).click();
    assert.ok(before > 500 && before < 2500, `the reader was at ${before}`);
    await page.getByText("said while reading above").waitFor();
    await until("the end is in sight again", async () => (await fromEnd()) < 3, 5000);
    await context.close();
  });

  test("the chosen conversation stays chosen when another begins", async () => {
    const { page, context } = await open(browser, rig);
    await view(page, rig, "conversations");
    await page.locator(".item").nth(5).waitFor();
    for (const _ of [1, 2, 3]) await page.keyboard.press("j");
    const chosen = () => page.locator(".item.chosen .stretched").getAttribute("href");
    const before = await chosen();
    await rig.as("payments", "send_message", { target: "docs", message: "A new one on top" }).catch(() => undefined);
    await rig.as("nas/meshtastic", "send_message", { target: "nas/backup", message: "A new one on top" });
    await page.locator(".item", { hasText: "nas/meshtastic" }).first().waitFor();
    await page.waitForTimeout(600);
    assert.equal(await chosen(), before);
    await context.close();
  });

  test("what was typed is still there after a look elsewhere", async () => {
    const { page, context } = await open(browser, rig);
    await page.getByLabel("Answer payments").fill("Yes, but tell");
    await view(page, rig, "agents");
    await page.getByLabel("Search agents").fill("meshta");
    await view(page, rig, "conversations", day.thread);
    await page.locator(".compose textarea").fill("half a thought");
    await view(page, rig, "agents");
    assert.equal(await page.getByLabel("Search agents").inputValue(), "meshta");
    await view(page, rig, "conversations", day.thread);
    assert.equal(await page.locator(".compose textarea").inputValue(), "half a thought");
    await page.reload();
    await view(page, rig, "questions");
    assert.equal(await page.getByLabel("Answer payments").inputValue(), "Yes, but tell");
    await context.close();
  });

  test("the chart draws nothing for a time it knows nothing of", async () => {
    const { page, context } = await open(browser, rig);
    const now = Date.now();
    const events = Array.from({ length: 1000 }, (_, n) => ({
      seq: n + 1,
      kind: "accepted",
      message_id: "a::b::1",
      at: new Date(now - 120_000 + n * 100).toISOString(),
    }));
    await page.route("**/api/op/tail_log", (route) => route.fulfill({ json: { events, at: "1:1000", more: false } }));
    await view(page, rig, "overview");
    await page.getByText("Known since").waitFor();
    await page.getByText("per 10 s").waitFor();
    await page.locator(".chart .u-over").hover({ position: { x: 500, y: 60 } });
    await page.locator(".chart figcaption", { hasText: /\d\d:\d\d:\d\d/ }).waitFor();
    await context.close();
  });

  test("a session that has ended says so on the page to sign in", async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    await page.goto(rig.url);
    const token = await rig.token("human");
    await page.getByLabel("Or paste a token").fill(token);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.locator(".line.live").waitFor();
    const kid = /^c3po_human_([a-z2-7]{12})_/.exec(token)[1];
    const ended = await fetch(`${rig.url}/api/admin/tokens/${kid}/revoke`, { method: "POST", headers: { Authorization: `Bearer ${rig.tokens.admin}` } });
    assert.ok(ended.ok);
    await page.getByText("Your session has ended").waitFor({ timeout: 20_000 });
    await context.close();
  });

  test("while the coordinator is away: the page stays, says what is so, and recovers", async () => {
    const { page, context } = await open(browser, rig);
    await rig.down();
    try {
      const alert = page.getByRole("alert");
      await alert.waitFor();
      const line = page.locator(".line.away");
      assert.equal(await line.evaluate((e) => getComputedStyle(e).backgroundColor), "rgba(0, 0, 0, 0)", "the line is not styled as the banner");
      await page.getByLabel("Answer payments").fill("Yes.");
      await page.keyboard.press("Control+Enter");
      await page.getByRole("button", { name: "Send now" }).click();
      const toast = page.locator(".toasts .bad");
      await toast.waitFor();
      const said = await toast.innerText();
      assert.doesNotMatch(said, /tries again by itself|recovers automatically/);
      assert.match(said, /try again/i);
      assert.equal(await page.getByLabel("Answer payments").inputValue(), "Yes.");
      await page.evaluate(() => (location.hash = "#/overview"));
      await page.getByRole("heading", { name: "This view did not load" }).waitFor();
      await page.locator("nav").first().waitFor();
    } finally {
      await rig.up();
    }
    await page.getByRole("heading", { name: "Overview", level: 1 }).waitFor({ timeout: 15_000 });
    await context.close();
  });
});
