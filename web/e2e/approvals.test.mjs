// A person decides in the dashboard what a coding agent may do. The requests are those that
// its hook makes; Chromium's virtual authenticator stands for the security key.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, open, settled, view, violations } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

let asks = 0;

// ask has an agent ask for permission, and gives the id of the question.
async function ask(rig, tool, input, reason = "") {
  asks++;
  const asked = await rig.as("api", "request_approval", { tool, input, session: "s", request: `r${asks}`, folder: "/src/api", reason });
  return asked.message_id;
}

// hidden gives the words of a text that are beside the screen, and what cuts it off.
const hidden = (element) =>
  element.evaluate((of) => {
    const range = document.createRange();
    const found = [];
    const nodes = document.createTreeWalker(of, window.NodeFilter.SHOW_TEXT);
    while (nodes.nextNode()) {
      for (const word of nodes.currentNode.data.matchAll(/\S+/g)) {
        range.setStart(nodes.currentNode, word.index);
        range.setEnd(nodes.currentNode, word.index + word[0].length);
        if ([...range.getClientRects()].some((r) => r.left < 0 || r.right > innerWidth)) found.push(word[0]);
      }
    }
    for (let e = of; e; e = e.parentElement) {
      if (e.scrollWidth > e.clientWidth && getComputedStyle(e).overflowX !== "visible") found.push(`${e.tagName}.${e.className} is cut`);
    }
    return found;
  });

const wide = `ls${" ".repeat(400)}; rm -rf / ${"x".repeat(400)}`;

const decided = (rig, id) => until("the verdict", async () => (await rig.person("human_show", { message_id: id })).reply);

// verdict is what the session that asked is given.
async function verdict(rig, id) {
  const answer = await decided(rig, id);
  assert.equal(answer.content_type, "application/vnd.c3po.verdict");
  return { ...answer.metadata, words: answer.response, passkey: answer.proof?.passkey };
}

describe("a person decides what an agent may do", () => {
  let rig, browser, page, wrong;
  before(async () => {
    rig = await Rig.start();
    browser = await launch();
    await rig.as("api", "register_agent", {});
    ({ page, wrong } = await open(browser, rig));
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });
  const card = (id) => page.locator(`.card[data-id="${id}"]`);

  test("a command is a command, letter for letter, and is allowed once", async () => {
    const id = await ask(rig, "Bash", { command: "echo **bold** `tick` && rm -rf build\u202e\u200b # ok\x1b[2K", timeout: 5000 }, "The build folder is stale.");
    await card(id).getByText("Allow Bash in /src/api").waitFor();
    const code = card(id).locator(".code pre");
    assert.equal(await code.innerText(), "$ echo **bold** `tick` && rm -rf build⟨U+202E⟩⟨U+200B⟩ # ok⟨U+001B⟩[2K\ntimeout: 5000");
    assert.equal(await card(id).locator(".codehead span").innerText(), "bash");
    assert.equal(await card(id).locator(".code strong, .code code").count(), 0);
    await card(id).getByRole("complementary", { name: "Background" }).getByText("The build folder is stale.").waitFor();
    await card(id)
      .getByRole("button", { name: /Allow once/ })
      .click();
    const from = Date.now();
    const given = await verdict(rig, id);
    console.log(`# from the click to the verdict: ${Date.now() - from} ms (limit 500)`);
    assert.ok(Date.now() - from < 5 * 500, "a verdict is sent at once");
    await page.getByText("Allowed once: echo **bold** `tick`").waitFor();
    assert.equal(given.allow, true);
    assert.equal(given.request, `r${asks}`);
    await card(id).waitFor({ state: "detached" });
  });

  test("no letter of another script moves a sign, and none looks like another", async () => {
    const command = `rm "\u05d0\u05d1" "\u05d2\u05d3" 1 2 \u0627\u0628/3/4; \u05d0\u202e\u0441url \\x1b \x1b ⟨U+001B⟩`;
    const id = await ask(rig, "Bash", { command });
    const code = card(id).locator(".code pre");
    await code.waitFor();
    await until("colors", async () => (await code.locator("span").count()) > 0);
    const want = `$ rm "\u05d0\u05d1" "\u05d2\u05d3" 1 2 \u0627\u0628/3/4; \u05d0⟨U+202E⟩⟨U+0441⟩url \\x1b ⟨U+001B⟩ ⟨U+27E8⟩U+001B⟩`;
    assert.equal(await code.textContent(), want);
    // Each sign stands to the right of the one before it, or below.
    const moved = (element) =>
      element.evaluate((of) => {
        const range = document.createRange();
        const wrong = [];
        let last = { left: -1, top: -1 };
        const nodes = document.createTreeWalker(of, window.NodeFilter.SHOW_TEXT);
        while (nodes.nextNode()) {
          const { data } = nodes.currentNode;
          for (let n = 0; n < data.length; n++) {
            if (data[n] > "~") continue; // a word of another script runs as it does
            range.setStart(nodes.currentNode, n);
            range.setEnd(nodes.currentNode, n + 1);
            const at = range.getBoundingClientRect();
            if (at.width === 0) continue;
            if (at.left <= last.left && at.top <= last.top) wrong.push(data.slice(Math.max(0, n - 5), n + 5));
            last = at;
          }
        }
        return wrong;
      });
    assert.deepEqual(await moved(code), []);
    await rig.as("api", "cancel", { message_id: id });
    // An agent's own code too.
    const own = await rig.as("ops", "escalate_to_human", {
      reason: 'Run `rm "\u05d0\u05d1" "\u05d2\u05d3" 1` or this?\n\n```\nrm "\u05d0\u05d1" "\u05d2\u05d3" 1\n```',
    });
    for (const place of [page.locator(".card code").first(), page.locator(".card .code pre").first()]) {
      await place.waitFor();
      assert.deepEqual(await moved(place), []);
    }
    await rig.person("human_answer", { message_id: own.message_id, response: "No." });
  });

  test("a change is a diff, whole, however long it is", async () => {
    const lines = Array.from({ length: 120 }, (_, n) => `line ${n}`);
    const id = await ask(rig, "Edit", {
      file_path: "/src/api/main.go",
      old_string: [...lines, "# heading", "end"].join("\n"),
      new_string: [...lines, "# other heading", "end"].join("\n"),
    });
    const code = card(id).locator(".code pre");
    await code.waitFor();
    assert.equal(await card(id).locator(".codehead span").innerText(), "diff");
    const shown = (await code.innerText()).split("\n");
    assert.deepEqual(shown, [
      "file: /src/api/main.go",
      " ⟨117 lines unchanged⟩",
      ...lines.slice(-3).map((l) => ` ${l}`),
      "-# heading",
      "+# other heading",
      " end",
    ]);
    await until("colors", async () => (await code.locator("span").count()) > 0);
    await card(id)
      .getByRole("button", { name: /^2 Deny$/ })
      .click();
    assert.equal((await verdict(rig, id)).allow, false);
  });

  test("own words deny, and the agent reads them", async () => {
    const id = await ask(rig, "WebFetch", { url: "https://example.com/?q=1", prompt: "read it" });
    assert.equal(await card(id).locator(".code pre").innerText(), "url: https://example.com/?q=1\nprompt: read it");
    await card(id).getByLabel("Deny api with these words").fill("Use the copy in docs/.");
    await card(id).getByRole("button", { name: "Deny", exact: true }).click();
    const given = await verdict(rig, id);
    assert.deepEqual([given.allow, given.words], [false, "Use the copy in docs/."]);
  });

  test("what was decided at the terminal is gone, and can't be decided any more", async () => {
    const id = await ask(rig, "Bash", { command: "make" });
    await card(id).waitFor();
    const from = Date.now();
    await rig.as("api", "cancel", { message_id: id });
    await card(id).waitFor({ state: "detached" });
    console.log(`# from the withdrawal to an empty list: ${Date.now() - from} ms (limit 1000)`);
    await assert.rejects(rig.person("human_answer", { message_id: id, choice: "1" }), /withdrawn/);
  });

  test("a click or a key that was meant for a question that has just gone answers no other", async () => {
    const gone = await ask(rig, "Bash", { command: `ls -la / ${"x".repeat(80)}` });
    const next = await ask(rig, "Bash", { command: `rm -rf / ${"x".repeat(80)}` });
    const allow = card(gone).locator("button[data-choice]").first();
    await card(next).waitFor();
    await page.locator("button[data-choice][aria-disabled=false]").first().waitFor();
    const at = await allow.boundingBox();
    const hit = page.evaluate(
      ({ x, y, id }) =>
        new Promise((done) => {
          const seen = new window.MutationObserver(() => {
            if (document.querySelector(`.card[data-id="${id}"]`)) return;
            seen.disconnect();
            const button = document.elementFromPoint(x, y).closest("button");
            button?.click();
            document.body.dispatchEvent(new window.KeyboardEvent("keydown", { key: "1", bubbles: true }));
            done(button?.closest(".card").dataset.id);
          });
          seen.observe(document.body, { childList: true, subtree: true });
        }),
      { x: at.x + at.width / 2, y: at.y + at.height / 2, id: gone },
    );
    await rig.as("api", "cancel", { message_id: gone });
    assert.equal(await hit, next);
    await card(next).locator("button[data-choice][aria-disabled=false]").first().waitFor();
    assert.equal((await rig.person("human_show", { message_id: next })).reply, undefined);
    // Once the list has stayed as it is, the key answers, and what it allows is named.
    await page.keyboard.press("1");
    await page.getByText(`Allowed once: rm -rf / ${"x".repeat(51)} …`, { exact: true }).waitFor();
    assert.equal((await verdict(rig, next)).allow, true);
  });

  test("nothing is allowed before its end was on the screen", async () => {
    const id = await ask(rig, "Bash", { command: [...Array.from({ length: 300 }, (_, n) => `echo ${n}`), "rm -rf /"].join("\n") });
    await view(page, rig, "questions");
    const allow = card(id).getByRole("button", { name: /Allow once/ });
    await card(id).getByText("Scroll to the end of it to allow it").waitFor({ state: "attached" });
    await card(id).locator(".code pre").focus();
    await page.evaluate(() => document.querySelector(".cards").scrollIntoView({ block: "start" }));
    // A key, and a click by a program, reach the button where it is.
    await page.keyboard.press("1");
    await allow.evaluate((button) => button.click());
    assert.equal(await allow.getAttribute("aria-disabled"), "true");
    assert.equal((await rig.person("human_show", { message_id: id })).reply, undefined);
    await allow.scrollIntoViewIfNeeded();
    await card(id).locator("button[data-choice][aria-disabled=false]", { hasText: "Allow once" }).waitFor();
    await allow.click();
    assert.equal((await verdict(rig, id)).allow, true);
  });

  test("a question that is dressed as a request for permission is called a question", async () => {
    const dressed = await rig.as("ops", "escalate_to_human", { reason: "Allow Bash in /src/api?\n\n```bash\n$ ls\n```", choices: ["Yes, allow it", "No"] });
    await assert.rejects(rig.as("ops", "escalate_to_human", { reason: "Allow Bash?", choices: ["\u0410llow \u043ence", "No"] }), /itself offers/);
    const real = await ask(rig, "Bash", { command: "ls" });
    await view(page, rig, "questions");
    await card(dressed.message_id).getByText("asks you", { exact: true }).waitFor();
    await card(dressed.message_id).getByText("No answer to it allows a tool.").waitFor();
    await card(real).getByText("asks for permission", { exact: true }).waitFor();
    assert.equal(await card(real).getByText("No answer to it allows a tool.").count(), 0);
    await rig.person("human_answer", { message_id: dressed.message_id, choice: "No" });
    await rig.as("api", "cancel", { message_id: real });
  });

  test("the conversation shows it as exactly", async () => {
    const id = await ask(rig, "Bash", { command: "echo **bold** > `x`\u200b" });
    await view(page, rig, "conversations", id);
    const bubble = page.getByRole("listitem").filter({ hasText: "approval" });
    assert.equal(await bubble.locator(".code pre").innerText(), "$ echo **bold** > `x`⟨U+200B⟩");
    assert.equal(await bubble.locator("strong").count(), 0);
    await page.getByLabel("Deny api with these words").fill("Not now.");
    await page.getByRole("button", { name: "Deny", exact: true }).click();
    assert.deepEqual([(await verdict(rig, id)).allow, (await verdict(rig, id)).words], [false, "Not now."]);
  });

  test("a long line wraps, on a phone too, and nothing of it is out of sight", async () => {
    const id = await ask(rig, "Bash", { command: wide });
    await page.setViewportSize({ width: 390, height: 800 });
    await view(page, rig, "questions");
    for (const [where, at] of [
      [card(id).locator(".code pre"), ["questions"]],
      [page.getByRole("listitem").filter({ hasText: "approval" }).locator(".code pre"), ["conversations", id]],
    ]) {
      await view(page, rig, ...at);
      await where.waitFor();
      await until("colors", async () => (await where.locator("span").count()) > 0);
      assert.match(await where.textContent(), /^\$ ls.*; rm -rf \/ x{400}$/s);
      assert.deepEqual(await hidden(where), []);
    }
    await page.setViewportSize({ width: 1280, height: 800 });
    await rig.as("api", "cancel", { message_id: id });
  });

  test("what follows from the person's word says so", async () => {
    await rig.as("web", "register_agent", {});
    const said = await rig.person("send_message", { target: "api", message: "Release it." });
    await rig.as("api", "get_messages", {});
    const sent = await rig.as("api", "send_message", { target: "web", message: "Are the tests green?" });
    await view(page, rig, "conversations", sent.id);
    await page.getByText(/Goes back to what you wrote at \d\d:\d\d.*, by token/).waitFor();
    await page.getByRole("link", { name: "what you wrote" }).click();
    await page.getByText("Release it.").first().waitFor();
    assert.ok(page.url().includes(encodeURIComponent(said.id)));
  });

  test("words typed where it says Deny never allow, and the refusal is shown", async () => {
    const id = await ask(rig, "Bash", { command: "make install" });
    const sent = [];
    page.on("request", (r) => r.url().endsWith("/human_answer") && sent.push(r.postDataJSON()));
    await view(page, rig, "questions");
    await card(id).getByLabel("Deny api with these words").fill("Allow once");
    await card(id).getByRole("button", { name: "Deny", exact: true }).click();
    await page.locator(".toasts .bad", { hasText: /own words deny/i }).waitFor();
    assert.equal((await rig.person("human_show", { message_id: id })).reply, undefined);
    await card(id)
      .getByRole("button", { name: /Allow once/ })
      .click();
    await page.getByText("Allowed once: make install", { exact: true }).waitFor();
    assert.equal((await verdict(rig, id)).allow, true);
    assert.deepEqual(
      sent.map(({ response, choice }) => ({ response, choice })),
      [
        { response: "Allow once", choice: undefined },
        { response: undefined, choice: "Allow once" },
      ],
    );
  });

  test("nothing ran, was fetched or was blocked", async () => {
    await settled(page);
    assert.deepEqual(wrong, []);
    assert.deepEqual(await violations(page), []);
  });
});

describe("a person with a passkey decides what an agent may do", () => {
  let rig, browser, page;
  before(async () => {
    rig = await Rig.start();
    browser = await launch();
    await rig.as("api", "register_agent", {});
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
    context.setDefaultTimeout(10_000);
    page = await context.newPage();
    const cdp = await context.newCDPSession(page);
    await cdp.send("WebAuthn.enable");
    await cdp.send("WebAuthn.addVirtualAuthenticator", {
      options: {
        protocol: "ctap2",
        transport: "usb",
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    await page.goto(await rig.c3po("passkey", "add", "--print"));
    await page.getByLabel("Name of a new one").fill("key ring");
    await page.getByRole("button", { name: "Add a passkey" }).click();
    await page.getByText("Added key ring").waitFor();
    await page.getByRole("radio", { name: /Decisions/ }).click();
    await confirm();
    await page.getByText("Saved").waitFor();
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });
  const dialog = () => page.getByRole("dialog", { name: "Confirm with your passkey" });
  const confirm = () => dialog().getByRole("button", { name: "Use passkey" }).click();
  const show = (id) => page.goto(new URL(`/#/q/${encodeURIComponent(id)}`, page.url()).href);
  const card = (id) => page.locator(`.card[data-id="${id}"]`);

  test("allows, denies and denies in words, each with a touch, and sees what it is for", async () => {
    for (const [choose, want] of [
      [(c) => c.getByRole("button", { name: /Allow once/ }).click(), { allow: true, words: "Allow once" }],
      [(c) => c.getByRole("button", { name: /^2 Deny$/ }).click(), { allow: false, words: "Deny" }],
      [
        async (c) => {
          await c.getByLabel("Deny api with these words").fill("Use make.");
          await c.getByRole("button", { name: "Deny", exact: true }).click();
        },
        { allow: false, words: "Use make." },
      ],
    ]) {
      const id = await ask(rig, "Bash", { command: `touch **x${asks}**\u200b` });
      await show(id);
      await choose(card(id));
      assert.equal(await dialog().locator(".code pre").innerText(), `$ touch **x${asks - 1}**⟨U+200B⟩`);
      await dialog().getByText(`Your answer: ${want.words}`, { exact: true }).waitFor();
      assert.equal((await rig.person("human_show", { message_id: id })).reply, undefined);
      await confirm();
      const { allow, words, passkey } = await verdict(rig, id);
      assert.deepEqual({ allow, words, passkey }, { ...want, passkey: "key ring" });
      await card(id).waitFor({ state: "detached" });
    }
  });

  test("nothing is allowed by closing the dialog, or by a token alone", async () => {
    const id = await ask(rig, "Bash", { command: "touch y" });
    await show(id);
    await card(id)
      .getByRole("button", { name: /Allow once/ })
      .click();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Not confirmed, so nothing was done").waitFor();
    await assert.rejects(rig.person("human_answer", { message_id: id, choice: "1" }), /passkey/);
    assert.equal((await rig.person("human_show", { message_id: id })).reply, undefined);
  });

  test("sees all of a long line before confirming, on a phone too", async () => {
    const id = await ask(rig, "Bash", { command: wide });
    await page.setViewportSize({ width: 390, height: 800 });
    await show(id);
    await card(id)
      .getByRole("button", { name: /Allow once/ })
      .click();
    const code = dialog().locator(".code pre");
    await code.waitFor();
    assert.match(await code.textContent(), /^\$ ls.*; rm -rf \/ x{400}$/s);
    assert.deepEqual(await hidden(code), []);
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await page.setViewportSize({ width: 1280, height: 800 });
    await rig.as("api", "cancel", { message_id: id });
  });

  test("can't confirm what is withdrawn or decided meanwhile", async () => {
    let decidedElsewhere = "";
    for (const [end, says] of [
      [(id) => rig.as("api", "cancel", { message_id: id }), "The question was withdrawn."],
      [(id) => (decidedElsewhere = id), "The question was answered meanwhile."],
    ]) {
      const id = await ask(rig, "Bash", { command: "touch z" });
      await page.route("**/api/op/human_show", async (route) => {
        const answer = await route.fetch();
        const question = await answer.json();
        if (question.id === decidedElsewhere) question.state = "responded";
        await route.fulfill({ response: answer, json: question });
      });
      await show(id);
      await card(id)
        .getByRole("button", { name: /Allow once/ })
        .click();
      await dialog().getByRole("button", { name: "Use passkey" }).waitFor();
      await end(id);
      await dialog().getByText(says).waitFor();
      assert.equal(await dialog().getByRole("button", { name: "Use passkey" }).count(), 0);
      await dialog().getByRole("button", { name: "Close" }).click();
      await page.unroute("**/api/op/human_show");
      await rig.as("api", "cancel", { message_id: id }).catch(() => undefined);
    }
  });

  test("can't confirm an answer to a question that the coordinator doesn't name", async () => {
    const id = await ask(rig, "Bash", { command: "touch w" });
    await page.route("**/api/proofs/*", async (route) => {
      const answer = await route.fetch();
      const proof = await answer.json();
      delete proof.act.question;
      await route.fulfill({ response: answer, json: proof });
    });
    await show(id);
    await card(id)
      .getByRole("button", { name: /Allow once/ })
      .click();
    await dialog().getByText("doesn’t say what this answers").waitFor();
    assert.equal(await dialog().getByRole("button", { name: "Use passkey" }).count(), 0);
    await dialog().getByRole("button", { name: "Close" }).click();
    await page.unroute("**/api/proofs/*");
  });
});
