// A big space: 5,000 agents and 100,000 messages with C3PO_TORTURE=1, a tenth of
// the agents and a fiftieth of the mail without.
import assert from "node:assert/strict";
import { clearInterval, setInterval } from "node:timers";
import { after, before, describe, test } from "node:test";
import { launch, limit, open, settled, view } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

const full = process.env.C3PO_TORTURE === "1";
const agents = full ? 5000 : 500;
const messages = full ? 100_000 : 2000;
const scrolling = full ? 10_000 : 3000;
const talking = full ? 660_000 : 30_000; // ms, at 200 events a second
const round = full ? 60_000 : 4000; // ms between two looks at the memory

describe(`a space of ${agents} agents and ${messages} messages`, () => {
  let rig, browser;
  before(async () => {
    rig = await Rig.start(["--sends-per-minute", "0"]);
    browser = await launch();
    const name = (n) => `agent-${String(n).padStart(4, "0")}`;
    await many(agents, (n) => as(rig, name(n), "register_agent", { type: "claude-code", cwd: `/home/ana/src/project-${n}` }));
    await many(messages, (n) =>
      as(rig, name(n % agents), "send_message", { target: name((n * 7 + 1 + Math.floor(n / agents)) % agents), message: `Please look at change ${n}.` }).catch(
        (err) => assert.match(String(err), /yourself|INVALID/),
      ),
    );
  });
  after(async () => {
    await browser?.close();
    await rig?.stop();
  });

  test("shows what needs the person within a second and a half", async () => {
    for (let n = 0; n < 20; n++) await as(rig, `agent-${String(n).padStart(4, "0")}`, "escalate_to_human", { reason: `May I merge change ${n}?` });
    const { context } = await open(browser, rig);
    const took = [];
    for (let n = 0; n < 5; n++) {
      const page = await context.newPage();
      await page.route("**/*", (route) => route.continue()); // switches the cache off
      await view(page, rig, "questions");
      await page.getByText("May I merge change 7?").waitFor();
      took.push(await page.evaluate(() => new Promise((is) => requestAnimationFrame(() => is(performance.now())))));
      await page.close();
    }
    limit("first screen, the median of 5", took.sort((a, b) => a - b)[2], 1500);
    await context.close();
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
    limit("largest paint", await page.evaluate(() => window.paint), 1500);
    limit("first click", click, 200);
    await page.keyboard.press("Escape");
    await page.locator(".view-agent").waitFor({ state: "detached" });

    for (const name of ["agents", "conversations"]) await smooth(page, rig, name);
    await context.close();
  });

  test("stays smooth, quiet and small while 200 events come every second", async () => {
    const { page, context } = await open(browser, rig);
    page.setDefaultTimeout(60_000);
    const cdp = await context.newCDPSession(page);
    await cdp.send("Network.enable");
    let bytes = 0;
    cdp.on("Network.dataReceived", (e) => (bytes += e.dataLength));
    const heap = async () => {
      await cdp.send("HeapProfiler.collectGarbage");
      return (await cdp.send("Runtime.getHeapUsage")).usedSize / 2 ** 20;
    };
    const asked = await as(rig, "agent-0001", "send_message", { target: "agent-0002", message: "Is the schema ready?" });
    const talk = new Talk(rig);
    const views = [
      ["questions"],
      ["conversations", asked.thread ?? asked.id],
      ["agents"],
      ["conversations"],
      ["overview"],
      ["waiting"],
      ["agents", "agent-0003"],
    ];
    const sizes = [];
    const began = Date.now();
    try {
      for (let n = 1; Date.now() < began + talking; n++) {
        for (const route of full ? views : views.slice(0, 5)) {
          const opened = Date.now();
          await view(page, rig, ...route);
          await settled(page);
          if (Date.now() - opened > 3000) console.log(`# ${route.join(" ")} took ${Date.now() - opened} ms to open`);
          if (n > 1) continue;
          // What a view reads when it opens is not read because of an event.
          if (route[0] === "agents" && route.length === 1) await page.getByText(new RegExp(` of ${agents}$`)).waitFor();
          await page.waitForTimeout(1000);
          const [from, since] = [talk.sent, (bytes = 0)];
          await page.waitForTimeout(full ? 15_000 : 3000);
          const each = (bytes - since) / (talk.sent - from);
          limit(`transferred for each unrelated event, ${route[0]}${route[1] ? " of one" : ""}`, each, 1024, "B");
          if (route[0] === "agents") await soon(page, rig);
          if (route.length === 1 && (route[0] === "agents" || route[0] === "conversations")) await smooth(page, rig, route[0], " under load");
        }
        await view(page, rig, "questions");
        await settled(page);
        sizes.push(await heap());
        await page.waitForTimeout(Math.max(0, began + n * round - Date.now()));
      }
    } finally {
      await talk.stop();
    }
    const seconds = (Date.now() - began) / 1000;
    console.log(`# ${talk.sent} events in ${Math.round(seconds)} s, ${Math.round(talk.sent / seconds)} a second`);
    console.log(`# memory after each round, in MiB: ${sizes.map((s) => s.toFixed(1)).join(" ")}`);
    const middle = (of) => of.toSorted((a, b) => a - b)[Math.floor(of.length / 2)];
    const third = Math.ceil(sizes.length / 3);
    limit("memory at the end against the beginning", (100 * middle(sizes.slice(-third))) / middle(sizes.slice(0, third)), 110, "%");
    await context.close();
  });
});

// as calls with an admin's token, which has no budget that so many agents would spend.
function as(rig, agent, name, args) {
  return rig.op(rig.tokens.admin, agent, name, args);
}

// Talk sends 200 messages a second between agents that nobody looks at.
class Talk {
  sent = 0;
  #open = new Set();
  #begun = Date.now();
  #made = 0;
  #timer;

  constructor(rig) {
    this.#timer = setInterval(() => {
      const due = ((Date.now() - this.#begun) / 1000) * 200;
      while (this.#made < due && this.#open.size < 100) {
        const n = this.#made++;
        const name = (k) => `agent-${String(50 + (k % (agents - 50))).padStart(4, "0")}`;
        const one = as(rig, name(n), "send_message", { target: name(n * 3 + 1), message: `Change ${n} is merged.`, expects_reply: false })
          .then(() => this.sent++)
          .catch((err) => assert.match(String(err), /yourself|INVALID/))
          .finally(() => this.#open.delete(one));
        this.#open.add(one);
      }
    }, 20);
  }

  async stop() {
    clearInterval(this.#timer);
    await Promise.all(this.#open);
  }
}

// soon asks the person while everybody talks, and holds the page to counting it at once.
async function soon(page, rig) {
  const count = () => page.title().then((title) => Number(/^\((\d+)\)/.exec(title)?.[1]));
  const before = await count();
  const began = Date.now();
  await as(rig, `agent-00${30 + before}`, "escalate_to_human", { reason: "May I merge it now?" });
  await until("the question is counted", async () => (await count()) === before + 1);
  limit("a question is counted under load", Date.now() - began, 1000);
}

// smooth scrolls through a list and holds its frames to 33 ms. Other work on the
// machine takes frames too: the best of three tries counts.
async function smooth(page, rig, name, when = "") {
  await view(page, rig, name);
  await page.locator(".item").first().waitFor();
  let frames = [Infinity];
  let nodes = 0;
  for (let tries = 0; tries < 3 && !(at95(frames) <= 33); tries++) {
    const run = await scroll(page);
    if (at95(run.frames) < at95(frames)) frames = run.frames;
    nodes = Math.max(nodes, run.nodes);
  }
  limit(`95 % of ${frames.length} frames of ${name}${when}`, at95(frames), 33);
  assert.ok(nodes < 5000, `${nodes} nodes in ${name}`);
  console.log(`# nodes in ${name}: ${nodes} (limit 5000)`);
}

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
