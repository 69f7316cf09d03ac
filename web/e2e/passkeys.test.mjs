// A person proves with a passkey that it is them. Chromium's virtual authenticator stands
// for the security key; everything else is real.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, describe, test } from "node:test";
import { launch, settled, violations } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

describe("a person with a passkey", () => {
  let rig, browser, page, key;
  const ask = async (words) => (await rig.as("api", "escalate_to_human", { reason: words, choices: ["drop it", "keep it"] })).message_id;
  const answer = async (id) => (await rig.person("human_show", { message_id: id })).reply;

  // inTerminal runs a command that needs the passkey, and confirms it in the browser once what
  // is shown there was looked at.
  const inTerminal = async (args, look = async () => undefined) => {
    const terminal = spawn(process.env.C3PO_BIN, args, { env: rig.environment() });
    let said = "";
    let out = "";
    terminal.stderr.on("data", (d) => (said += d));
    terminal.stdout.on("data", (d) => (out += d));
    const ended = new Promise((is) => terminal.once("exit", is));
    const [, code, address] = await until("the code", async () => /code (\S+),[^\n]*\n\s+(\S+)/.exec(said));
    await page.goto("about:blank");
    await page.goto(address);
    await page.getByText(code).waitFor();
    await look();
    await page.getByRole("button", { name: "Use passkey" }).click();
    await page.getByText("Confirmed. Go on where you came from.").waitFor();
    assert.equal(await ended, 0, said);
    return out;
  };

  before(async () => {
    rig = await Rig.start();
    browser = await launch();
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(10_000);
    page = await context.newPage();
    await page.addInitScript(() => {
      window.violations = [];
      document.addEventListener("securitypolicyviolation", (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
    });
    const cdp = await context.newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    ({ authenticatorId: key } = await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "usb",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    }));
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("adds it where passkeys work, and asks for it from then on", async () => {
    assert.ok(key);
    const link = await rig.c3po("passkey", "add", "--print");
    assert.match(link, /^http:\/\/localhost:\d+\/#\/login\/[^/]+\/passkeys$/);
    await page.goto(link);
    await page.getByLabel("Name of a new one").fill("key ring");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("Added key ring").waitFor();
    await page.getByRole("radio", { name: /Decisions/ }).click();
    const dialog = page.getByRole("dialog", { name: "Confirm with your passkey" });
    await dialog.getByText("Change what needs a passkey").waitFor();
    await dialog.getByRole("button", { name: "Use passkey" }).click();
    await page.getByText("Saved").waitFor();
    assert.match(await rig.c3po("passkey", "list"), /key ring.*localhost[\s\S]*answers, resuming/);
    await settled(page);
    assert.deepEqual(await violations(page), []);
  });

  test("answers in the dashboard, after seeing exactly what they answer", async () => {
    const id = await ask("May I drop the table users?");
    await page.goto(new URL(`/#/q/${encodeURIComponent(id)}`, page.url()).href);
    await page
      .getByRole("button", { name: /drop it/ })
      .first()
      .click();
    const dialog = page.getByRole("dialog", { name: "Confirm with your passkey" });
    await dialog.getByText("May I drop the table users?").waitFor();
    await dialog.getByText("drop it", { exact: true }).waitFor();
    assert.equal(await answer(id), undefined);
    await dialog.getByRole("button", { name: "Use passkey" }).click();
    const said = await until("the answer", () => answer(id));
    assert.equal(said.response, "drop it");
    assert.equal(said.proof.passkey, "key ring");
  });

  test("does nothing by closing the dialog", async () => {
    const id = await ask("May I drop the table orders?");
    await page.goto(new URL(`/#/q/${encodeURIComponent(id)}`, page.url()).href);
    await page
      .getByRole("button", { name: /keep it/ })
      .first()
      .click();
    await page.getByRole("dialog", { name: "Confirm with your passkey" }).getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Not confirmed, so nothing was done").waitFor();
    assert.equal(await answer(id), undefined);
  });

  test("answers in a terminal, and confirms it in the browser under the same code", async () => {
    const id = await ask("May I drop the table bills?");
    const said = await inTerminal(["answer", id, "--choice", "2"], () => page.getByText("May I drop the table bills?").waitFor());
    assert.match(said, /answered/);
    assert.equal((await answer(id)).proof.passkey, "key ring");
  });

  test("can't allow from a terminal what they have not seen to its end", async () => {
    const asked = await rig.as("api", "request_approval", {
      tool: "Bash",
      input: { command: [...Array.from({ length: 300 }, (_, n) => `echo ${n}`), "rm -rf /"].join("\n") },
      session: "s",
      request: "long",
    });
    const id = asked.message_id;
    const said = await inTerminal(["answer", id, "--choice", "1"], async () => {
      const use = page.getByRole("button", { name: "Use passkey" });
      await page.getByText("Scroll to the end of it to allow it").waitFor({ state: "attached" });
      await page.evaluate(() => document.querySelector("main h1").scrollIntoView({ block: "start" }));
      // A key, and a click by a program, reach the button where it is.
      await use.evaluate((button) => button.focus({ preventScroll: true }));
      await page.keyboard.press("Enter");
      await use.evaluate((button) => button.click());
      await settled(page);
      assert.equal(await use.getAttribute("aria-disabled"), "true");
      assert.equal(await answer(id), undefined);
      await use.scrollIntoViewIfNeeded();
      await page.locator("button[aria-disabled=false]", { hasText: "Use passkey" }).waitFor();
    });
    assert.match(said, /^allowed Bash once$/m);
    const verdict = await answer(id);
    assert.deepEqual([verdict.metadata.allow, verdict.proof.passkey], [true, "key ring"]);
  });

  test("sees in every view that all passkeys are about to be forgotten, and keeps them", async () => {
    await rig.c3po("passkey", "reset");
    await page.reload();
    const banner = page.getByRole("alert").filter({ hasText: "Somebody asked to forget all your passkeys at" });
    for (const view of ["questions", "waiting", "agents", "conversations", "rooms", "overview", "network", "letters", "passkeys"]) {
      await page.goto(new URL(`/#/${view}`, page.url()).href);
      await settled(page);
      await banner.waitFor();
      assert.equal(await page.getByRole("alert").count(), 1, view);
    }
    assert.match(await rig.c3po("status"), /passkeys +All your passkeys are forgotten at \d\d:\d\d, unless you use one before/);
    await banner.getByRole("button", { name: "Keep my passkeys" }).click();
    await page.getByRole("dialog", { name: "Confirm with your passkey" }).getByRole("button", { name: "Use passkey" }).click();
    await banner.waitFor({ state: "detached" });
    assert.doesNotMatch(await rig.c3po("status"), /passkeys/);
    assert.equal(JSON.parse(await rig.c3po("passkey", "list", "--json")).policy, "decisions");
  });

  test("has time to take an answer back as soon as no passkey is needed, and none where one is", async () => {
    await inTerminal(["passkey", "policy", "off"]);
    const open = async (on, words) => {
      const id = await ask(words);
      await on.goto(new URL(`/#/q/${encodeURIComponent(id)}`, on.url()).href);
      await on
        .getByRole("button", { name: /keep it/ })
        .first()
        .click();
      return id;
    };
    const id = await open(page, "May I drop the table cats?");
    await page.getByRole("button", { name: "Undo" }).click();
    assert.equal(await answer(id), undefined);

    // A browser that has confirmed nothing yet.
    const other = await (await browser.newContext()).newPage();
    other.setDefaultTimeout(5_000); // an answer that can be taken back is sent after ten seconds
    await other.goto(await rig.c3po("open", "--print"));
    await other.getByRole("heading", { name: "Questions", level: 1 }).waitFor();
    await inTerminal(["passkey", "policy", "decisions"]);
    await open(other, "May I drop the table dogs?");
    await other.getByRole("dialog", { name: "Confirm with your passkey" }).waitFor();
  });
});
