// A big space: 5,000 agents and 100,000 messages with C3PO_TORTURE=1, a tenth of
// the agents and a fiftieth of the mail without.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { launch, limit, open, view } from "./browser.mjs";
import { Rig } from "./rig.mjs";

const full = process.env.C3PO_TORTURE === "1";
const agents = full ? 5000 : 500;
const messages = full ? 100_000 : 2000;
const scrolling = full ? 10_000 : 3000;

describe(`a space of ${agents} agents and ${messages} messages`, () => {
  let rig, browser;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"]);
    browser = await launch();
    const name = (n) => `agent-${String(n).padStart(4, "0")}`;
    await many(agents, (n) => rig.as(name(n), "register_agent", { type: "claude-code", cwd: `/home/ana/src/project-${n}` }));
    await many(messages, (n) =>
      rig
        .as(name(n % agents), "send_message", { target: name((n * 7 + 1 + Math.floor(n / agents)) % agents), message: `Please look at change ${n}.` })
        .catch((err) => assert.match(String(err), /yourself|INVALID/)),
    );
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("is on the screen soon, answers the first click at once, and scrolls smoothly", async () => {
    // Signed in already, and with nothing in the cache.
    const { context } = await open(browser, rig);
    const page = await context.newPage();
    await page.route("**/*", (route) => route.continue()); // switches the cache off
    await page.addInitScript(() => {
      window.paint = 0;
      new PerformanceObserver((list) => list.getEntries().forEach((e) => (window.paint = e.startTime))).observe({
        type: "largest-contentful-paint",
        buffered: true,
      });
    });
    await view(page, rig, "agents");
    const row = page.getByRole("link", { name: /agent-0003/ });
    await row.waitFor();
    const click = await page.evaluate(async () => {
      const link = [...document.querySelectorAll(".item a")].find((a) => a.textContent.includes("agent-0003"));
      const began = performance.now();
      link.click();
      while (!document.querySelector(".view-agent")) await new Promise(requestAnimationFrame);
      return performance.now() - began;
    });
    limit("largest paint", await page.evaluate(() => window.paint), 2000);
    limit("first click", click, 200);
    await page.keyboard.press("Escape");
    await page.locator(".view-agent").waitFor({ state: "detached" });

    for (const name of ["agents", "conversations"]) {
      await view(page, rig, name);
      await page.locator(".item").first().waitFor();
      // Other work on the machine takes frames too: the best of three tries counts.
      let frames = [Infinity];
      let nodes = 0;
      for (let tries = 0; tries < 3 && !(at95(frames) <= 33); tries++) {
        const run = await scroll(page);
        if (at95(run.frames) < at95(frames)) frames = run.frames;
        nodes = Math.max(nodes, run.nodes);
      }
      limit(`95 % of ${frames.length} frames of ${name}`, at95(frames), 33);
      assert.ok(nodes < 5000, `${nodes} nodes in ${name}`);
      console.log(`# nodes in ${name}: ${nodes} (limit 5000)`);
    }
    await context.close();
  });
});

function at95(frames) {
  return frames[Math.floor(frames.length * 0.95)];
}

// scroll moves through the list and times each frame.
function scroll(page) {
  return page.evaluate(async (most) => {
    const box = document.querySelector(".scroll");
    const frames = [];
    let nodes = 0;
    let last = performance.now();
    const end = last + most;
    while (last < end) {
      box.scrollTop += 40;
      if (box.scrollTop + box.clientHeight >= box.scrollHeight - 1) box.scrollTop = 0;
      await new Promise(requestAnimationFrame);
      const now = performance.now();
      frames.push(now - last);
      last = now;
      nodes = Math.max(nodes, document.getElementsByTagName("*").length);
    }
    return { frames: frames.sort((a, b) => a - b), nodes };
  }, scrolling);
}

async function many(count, make) {
  let next = 0;
  await Promise.all(
    Array.from({ length: 24 }, async () => {
      while (next < count) await make(next++);
    }),
  );
}
