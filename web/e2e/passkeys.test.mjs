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
    const terminal = spawn(process.env.C3PO_BIN, ["answer", id, "--choice", "2"], { env: rig.environment() });
    let said = "";
    let out = "";
    terminal.stderr.on("data", (d) => (said += d));
    terminal.stdout.on("data", (d) => (out += d));
    const ended = new Promise((is) => terminal.once("exit", is));
    const [, code, address] = await until("the code", async () => /code (\S+),[^\n]*\n\s+(\S+)/.exec(said));
    await page.goto("about:blank");
    await page.goto(address);
    await page.getByText(code).waitFor();
    await page.getByText("May I drop the table bills?").waitFor();
    await page.getByRole("button", { name: "Use passkey" }).click();
    await page.getByText("Confirmed. Go on where you came from.").waitFor();
    assert.equal(await ended, 0, said);
    assert.match(out, /answered/);
    assert.equal((await answer(id)).proof.passkey, "key ring");
  });
});
