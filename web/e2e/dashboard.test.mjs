// What a person does in the dashboard, in a real browser before a real
// coordinator.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, limit, open, view, violations } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

describe("the dashboard", () => {
  let rig, browser, page, wrong;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"]);
    browser = await launch();
    for (const id of ["api", "web", "nas/backup"]) await rig.as(id, "register_agent", { type: "claude-code", cwd: `/src/${id}` });
    ({ page, wrong } = await open(browser, rig, { admin: true }));
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("an agent asks, is answered in the page, and goes on", async () => {
    await view(page, rig, "questions");
    await page.getByText("Nobody waits for you").waitFor();
    const asked = Date.now();
    const question = await rig.as("api", "escalate_to_human", { reason: "May I delete the old table?" });
    await page.getByText("May I delete the old table?").waitFor();
    limit("a question is on the screen", Date.now() - asked, 1000);
    assert.equal((await rig.person("get_agent_status", { agent_id: "api" })).paused, "waiting_for_human");
    const answer = rig.as("api", "wait_for_message", { message_id: question.message_id, timeout: 20 });
    await page.keyboard.press("Enter");
    await page.keyboard.type("Yes, after a backup.");
    await page.keyboard.press("Control+Enter");
    assert.equal((await answer).response, "Yes, after a backup.");
    await page.getByText("Nobody waits for you").waitFor();
    assert.equal((await rig.person("get_agent_status", { agent_id: "api" })).paused, null);
  });

  test("a choice that is offered is one key", async () => {
    const question = await rig.as("web", "escalate_to_human", { reason: "Which one?", choices: ["one column", "two columns"] });
    await page.locator("[data-choice][aria-disabled=false]", { hasText: "two columns" }).waitFor();
    const answer = rig.as("web", "wait_for_message", { message_id: question.message_id, timeout: 20 });
    await page.locator("main").click({ position: { x: 5, y: 5 } });
    await page.keyboard.press("2");
    assert.equal((await answer).response, "two columns");
  });

  test("agents are listed as they come, and one is paused and resumed", async () => {
    await page.keyboard.press("g");
    await page.keyboard.press("a");
    await page.getByRole("heading", { name: "Agents", level: 1 }).waitFor();
    await page.getByRole("link", { name: /nas\/backup/ }).waitFor();
    const came = Date.now();
    await rig.as("newcomer", "register_agent", {});
    await page.getByRole("link", { name: /newcomer/ }).waitFor();
    limit("a new agent is on the screen", Date.now() - came, 1000);
    await page.getByRole("link", { name: /newcomer/ }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await page.getByRole("button", { name: "Resume", exact: true }).waitFor();
    assert.notEqual((await rig.person("get_agent_status", { agent_id: "newcomer" })).paused, null);
    await page.getByRole("button", { name: "Resume", exact: true }).click();
    await page.getByRole("button", { name: "Pause", exact: true }).waitFor();
    assert.equal((await rig.person("get_agent_status", { agent_id: "newcomer" })).paused, null);
  });

  test("what a session does is shown with its age, soon after it changes", async () => {
    await view(page, rig, "agents");
    await page.getByRole("link", { name: /web.*last call/ }).waitFor();
    const waits = rig.as("web", "pending", { timeout: 60, after: 1e12, state: "working" }).catch(() => undefined);
    await page.getByRole("link", { name: /web.*working for [1-9]\d* s/ }).waitFor({ timeout: 15_000 });
    await view(page, rig, "agents", "web");
    await page.locator(".view-agent .now", { hasText: /working for [1-9]\d* s/ }).waitFor();
    await page.getByText(/Its session says so since .* Its last call was just now/).waitFor();
    await page.keyboard.press("Escape");
    await rig.as("web", "register_agent", { type: "claude-code", cwd: "/src/web" });
    void waits;
  });

  test("a person writes to an agent and sees the life of the message", async () => {
    await view(page, rig, "agents", "web");
    await page.getByLabel("Write to web").fill("How far are you?");
    await page.getByRole("button", { name: "Send" }).click();
    await page.getByRole("heading", { name: "How far are you?", level: 1 }).waitFor();
    await page.locator(".bubble").getByText("How far are you?").waitFor();
    await page.getByRole("button", { name: "Life of this message: accepted" }).click();
    await page.locator(".life li.done", { hasText: "accepted" }).waitFor();
    assert.equal(await page.locator(".life li.done", { hasText: "answered" }).count(), 0);
    await page.locator(".life li", { hasText: "No reply is stored yet" }).waitFor();
    const mail = await until("mail", async () => (await rig.as("web", "get_messages")).find((m) => m.message === "How far are you?"));
    await rig.as("web", "reply", { message_id: mail.id, response: "Nearly there." });
    await page.getByText("Nearly there.").waitFor();
    await page.locator(".life li.done", { hasText: "answered" }).waitFor();
    await view(page, rig, "conversations");
    await page.getByRole("listitem").filter({ hasText: "human" }).filter({ hasText: "web" }).filter({ hasText: "answered" }).first().waitFor();
  });

  test("the overview and the network show what happens", async () => {
    await rig.as("api", "send_message", { target: "web", message: "one" });
    await view(page, rig, "overview");
    await page.locator(".chart canvas").waitFor();
    await page.getByText("Waits longest for an answer").waitFor();
    await page.locator(".plainlist", { hasText: "api" }).first().waitFor();
    await view(page, rig, "network");
    await page
      .locator(".ways li.blocked", { hasText: /api to web/ })
      .getByRole("link", { name: /^waits/ })
      .waitFor();
    await rig.as("web", "send_message", { target: "nas/backup", message: "two", expects_reply: false });
    await page.locator(".ways li:not(.blocked)", { hasText: /web to nas\/backup.*1 message/ }).waitFor();
  });

  test("an admin makes a token and ends it", async () => {
    await view(page, rig, "tokens");
    await page.getByRole("button", { name: "New token" }).click();
    await page.getByLabel("Label").fill("made in the page");
    await page.getByRole("button", { name: "Make it" }).click();
    await page.getByRole("dialog", { name: "The new token" }).waitFor();
    const secret = await page.locator(".secret").innerText();
    assert.match(secret, /^c3po_observer_/);
    await page.keyboard.press("Escape");
    const row = page.getByRole("row", { name: /made in the page/ });
    await row.getByRole("button", { name: "End" }).click();
    await page.getByRole("button", { name: "End it" }).click();
    await row.waitFor({ state: "detached" });
  });

  test("the keys are listed, and the theme changes by one of them", async () => {
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keys" }).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keys" }).waitFor({ state: "detached" });
    const before = await page.evaluate(() => document.documentElement.dataset.theme);
    await page.keyboard.press("Shift+T");
    assert.notEqual(await page.evaluate(() => document.documentElement.dataset.theme), before);
  });

  test("an observer looks and finds nothing to change", async () => {
    const context = await browser.newContext();
    const looking = await context.newPage();
    await looking.goto(rig.url);
    await looking.getByLabel("Or paste a token").fill(await rig.token("observer"));
    await looking.getByRole("button", { name: "Sign in" }).click();
    await looking.getByRole("heading", { name: "Questions", level: 1 }).waitFor();
    await rig.as("api", "escalate_to_human", { reason: "Seen by an observer?" });
    await looking.getByRole("link", { name: "Conversation", exact: true }).first().waitFor();
    for (const name of ["agents", "letters", "conversations"]) {
      await view(looking, rig, name);
      await looking.getByRole("heading", { level: 1 }).waitFor();
      assert.equal(await looking.getByRole("button", { name: /Pause|Resume|Answer|Send|Forget/ }).count(), 0, name);
    }
    await context.close();
  });

  test("a link is good once", async () => {
    const link = await rig.c3po("open", "--print");
    for (const sign of ["Questions", "This link has expired or was already used."]) {
      const context = await browser.newContext();
      const fresh = await context.newPage();
      await fresh.goto(link);
      await fresh.getByText(sign).first().waitFor();
      assert.ok(!fresh.url().includes("login"), "the code has left the address");
      await context.close();
    }
  });

  test("a coordinator that was restarted is found again, and nothing is missed", async () => {
    await view(page, rig, "questions");
    await rig.down();
    await page.getByRole("alert").waitFor();
    await rig.up();
    const back = Date.now();
    await rig.as("web", "escalate_to_human", { reason: "Asked after the restart" });
    await page.getByText("Asked after the restart").waitFor();
    await page.locator(".line.live").waitFor();
    limit("live again", Date.now() - back, 5000);
  });

  test("nothing happened that must not", async () => {
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
  });
});

describe("dead letters", () => {
  let rig, browser;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"], "limits:\n  message_life: 3s\n  reap_every: 1s\n");
    browser = await launch();
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("one is read, delivered again, and forgotten", async () => {
    const { page } = await open(browser, rig);
    await rig.as("api", "register_agent", {});
    await rig.as("web", "send_message", { target: "api", message: "Nobody reads this in time", expects_reply: false });
    await view(page, rig, "letters");
    await page.getByRole("listitem").filter({ hasText: "to api" }).getByText("nobody read it in time").waitFor();
    const letter = page.getByRole("listitem").filter({ hasText: "Nobody reads this in time" });
    await letter.first().locator("button").click();
    await page.getByRole("dialog").getByText("Nobody reads this in time").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Deliver again" }).click();
    await until("delivered again", async () => (await rig.as("api", "get_messages")).some((m) => m.message === "Nobody reads this in time"));
    // It dies again, and is forgotten for good.
    await letter.first().waitFor();
    await page.getByRole("button", { name: "Forget all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget", exact: true }).click();
    await page.getByText("No dead letters").waitFor();
  });

  test("they are grouped by reader and reason, and a group is delivered again or forgotten at once", async () => {
    const { page, context } = await open(browser, rig);
    for (const id of ["nas/backup", "laptop/docs"]) await rig.as(id, "register_agent", {});
    for (let n = 0; n < 6; n++) await rig.as("web", "send_message", { target: "nas/backup", message: `Copy ${n} of last night`, expects_reply: false });
    await rig.as("web", "send_message", { target: "laptop/docs", message: "# One for the handbook", expects_reply: false });
    await view(page, rig, "letters");
    const group = page.getByRole("listitem").filter({ hasText: /to nas\/backup/ });
    await group.getByText("6 letters").waitFor({ timeout: 15_000 });
    // A small group is open, a big one is not.
    await page.getByRole("listitem").filter({ hasText: "One for the handbook" }).waitFor();
    assert.equal(await page.getByText("Copy 3 of last night").count(), 0);
    await group.getByRole("button", { name: "to nas/backup" }).first().click();
    await page.getByText("Copy 3 of last night").waitFor();
    await group.getByRole("button", { name: "Forget letters to nas/backup" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Forget", exact: true }).click();
    await group.waitFor({ state: "detached" });
    await page.getByRole("listitem").filter({ hasText: "One for the handbook" }).waitFor();
    await context.close();
  });
});
