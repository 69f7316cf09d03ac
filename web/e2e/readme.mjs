// The pictures of the dashboard in the README and in its guide, from a small story. Those of
// the guide are four views, wide and on a phone, light and dark:
//   C3PO_BIN=../bin/c3po node e2e/readme.mjs ../docs
import { mkdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { launch, open, settled, view } from "./browser.mjs";
import { Rig } from "./rig.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("say where the pictures go");
const guide = path.join(folder, "guides/dashboard");
mkdirSync(guide, { recursive: true });

const tasks = {
  api: "Move the orders to the new schema",
  web: "Show totals in the list of orders",
  payments: "Rotate the keys of the sandbox",
  "nas/backup": "Nightly copy",
  "laptop/docs": "Handbook for version 2",
  "build/linux": "Release 2.4",
};

const rig = await Rig.start(["--sends-per-minute", "0"]);
const browser = await launch();
try {
  for (const [id, task] of Object.entries(tasks)) {
    await rig.as(id, "register_agent", {
      type: id === "laptop/docs" ? "codex" : "claude-code",
      cwd: `/home/ana/src/${id.split("/").at(-1)}`,
      capabilities: ["review"],
    });
    await rig.as(id, "set_status", { status: "busy", current_task: task });
  }
  const send = (from, target, message, more = {}) => rig.as(from, "send_message", { target, message, ...more });
  const first = await send("web", "api", "Which fields does GET /orders return?\n\nI need the total and the currency for the list.");
  const thread = first.thread ?? first.id;
  await rig.as("api", "get_messages", {});
  await rig.as("api", "reply", {
    message_id: first.id,
    response: 'id, total (in cents), currency and placed_at. For example:\n\n```json\n{"id": 7, "total": 1290, "currency": "EUR"}\n```',
  });
  const second = await send("web", "api", "Does the total include shipping?", { thread });
  await rig.as("api", "get_messages", {});
  await rig.as("api", "reply", { message_id: second.id, response: "Yes, since schema 12. The subtotal is without it." });
  await rig.as("web", "get_messages", {});
  await send("build/linux", "laptop/docs", "2.4 is tagged. Are the release notes ready?");
  await send("payments", "api", "Is the old key still used by the import job?");
  await send("nas/backup", "laptop/docs", "The copy of last night is complete: 14 GiB.", { expects_reply: false });
  await send("nas/backup", "payments", "Which key reads the sandbox from tonight on?");
  await rig.as("api", "escalate_to_human", {
    reason: "The migration drops a column that two old clients still read.",
    question: "May I drop orders.legacy_total?",
    choices: ["Drop it", "Keep it for a month", "Ask me tomorrow"],
    deadline: "2h",
  });
  await rig.as("laptop/docs", "escalate_to_human", {
    reason: "The handbook has two spellings, and people search for both.",
    question: "Which spelling stays: log in, or sign in?",
  });

  for (const colorScheme of ["light", "dark"]) {
    const { page, context } = await open(browser, rig, { colorScheme, viewport: { width: 1120, height: 580 }, deviceScaleFactor: 1.2 });
    for (const [name, route] of Object.entries({ questions: ["questions"], conversation: ["conversations", thread] })) {
      await view(page, rig, ...route);
      await settled(page);
      await page.waitForTimeout(400);
      await page.screenshot({ path: path.join(folder, `dashboard-${name}-${colorScheme}.png`) });
    }
    await context.close();
    for (const [width, options] of Object.entries({
      1440: { viewport: { width: 1440, height: 800 } },
      390: { viewport: { width: 390, height: 760 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
    })) {
      const { page, context } = await open(browser, rig, { colorScheme, ...options });
      const cdp = await context.newCDPSession(page);
      for (const [name, route] of Object.entries({
        questions: ["questions"],
        waiting: ["waiting"],
        agent: ["agents", "api"],
        conversation: ["conversations", thread],
      })) {
        await view(page, rig, ...route);
        await settled(page);
        await page.waitForTimeout(400);
        const { data } = await cdp.send("Page.captureScreenshot", { format: "webp", quality: 82 });
        writeFileSync(path.join(guide, `${name}-${width}-${colorScheme}.webp`), Buffer.from(data, "base64"));
      }
      await context.close();
    }
  }
} finally {
  await browser.close();
  await rig.stop();
}
