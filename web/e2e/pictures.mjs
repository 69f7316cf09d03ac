// Pictures of every view, light and dark, wide, on a tablet and on a phone, to be looked at:
//   C3PO_BIN=../bin/c3po node e2e/pictures.mjs FOLDER
import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { launch, open, settled, view } from "./browser.mjs";
import { Rig, until } from "./rig.mjs";

const folder = process.argv[2];
if (!folder) throw new Error("say where the pictures go");
mkdirSync(folder, { recursive: true });

const rig = await Rig.start(["--sends-per-minute", "0"], "limits:\n  message_life: 2s\n  reap_every: 1s\n");
const browser = await launch();

try {
  // A day of a few agents.
  const agents = ["api", "web", "nas/backup", "nas/meshtastic", "laptop/docs", "laptop/release-notes", "build/linux", "build/darwin"];
  for (const id of agents)
    await rig.as(id, "register_agent", { type: id === "laptop/docs" ? "codex" : "claude-code", cwd: `/src/${id}`, capabilities: ["review"] });
  await rig.as("web", "send_message", { target: "build/darwin", message: "Is the certificate of the signing host still good?", expects_reply: false });
  await rig.as("nas/backup", "send_message", { target: "build/darwin", message: "The copy of last night is 14 GiB.", expects_reply: false });
  await until("dead letters", async () => JSON.stringify(await rig.person("dead_letters")).split("build/darwin").length > 2);
  // The rest lives as long as usual.
  await rig.down();
  rmSync(path.join(rig.folder, ".config/c3po/c3po.yaml"));
  await rig.up();

  const thread = await rig.as("web", "send_message", {
    target: "api",
    message:
      "Which fields does GET /orders answer with?\n\nI need at least the total and the currency for the list, and I would rather not make a second call for each row.",
  });
  await rig.as("api", "reply", {
    message_id: thread.id,
    response:
      'id, total (in cents), currency, placed_at. `?expand=lines` adds the lines.\n\n    GET /orders?expand=lines\n    200 [{"id": 7, "total": 1290, "currency": "EUR"}]',
  });
  for (let n = 0; n < 14; n++) {
    const [from, to] = [
      ["web", "api"],
      ["laptop/docs", "api"],
      ["nas/meshtastic", "nas/backup"],
      ["laptop/release-notes", "build/linux"],
    ][n % 4];
    await rig.as(from, "send_message", { target: to, message: `Step ${n + 1}: shall I go on?` });
  }
  await rig.as("api", "escalate_to_human", {
    reason: "The migration drops a column that two old clients still read.",
    question: "May I drop orders.legacy_total?",
    choices: ["drop it", "keep it for a month", "ask me again tomorrow"],
  });
  await rig.as("laptop/docs", "escalate_to_human", {
    reason: "There are two spellings in the handbook, and I cannot tell which one people know. Both are used about as often.",
    deadline: "30m",
  });
  for (const id of ["web", "api"]) await rig.as(id, "room_join", { room: "planning" });
  await rig.as("web", "room_post", { room: "planning", message: "The list shows totals since this morning." });
  await rig.as("nas/backup", "send_message", { target: "role:review", message: "Who is free to look at the restore script?" });
  await rig.person("pause", { agent_id: "build/linux", reason: "new compiler" });

  const views = {
    questions: ["questions"],
    waiting: ["waiting"],
    agents: ["agents"],
    agent: ["agents", "api"],
    conversations: ["conversations"],
    conversation: ["conversations", thread.thread ?? thread.id],
    sequence: ["conversations", thread.thread ?? thread.id, "sequence"],
    rooms: ["rooms"],
    room: ["rooms", "planning"],
    queue: ["queues", "review"],
    overview: ["overview"],
    network: ["network"],
    letters: ["letters"],
    tokens: ["tokens"],
  };
  const looks = {
    light: { colorScheme: "light" },
    dark: { colorScheme: "dark" },
    tablet: { colorScheme: "light", viewport: { width: 1024, height: 768 } },
    phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, deviceScaleFactor: 2, isMobile: true, hasTouch: true },
  };
  for (const [look, options] of Object.entries(looks)) {
    const { page, context } = await open(browser, rig, { admin: true, ...options });
    for (const [name, route] of Object.entries(views)) {
      await view(page, rig, ...route);
      await settled(page);
      await page.waitForTimeout(400);
      await page.screenshot({ path: path.join(folder, `${name}-${look}.png`) });
    }
    await context.close();
  }
} finally {
  await browser.close();
  await rig.stop();
}
