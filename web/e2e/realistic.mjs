// A working day: agents with long names on several hosts, about a thousand
// messages, code, long choices, deadlines that are near or past, and mail that
// only informs.
export const settings = "limits:\n  chain_messages: 100000\n  chain_hops: 100000\n  pair_messages: 100000\n  agent_messages: 100000\n";

export const longChoice = "Keep orders.legacy_total for a month, log every client that still reads it, and drop it when nobody has asked for two weeks";
export const longName = "build-linux-arm64/release-notes-and-changelog-of-the-payments-service";

const code = (n) => `Change ${n} touches the retry path; the loop is here:

\`\`\`go
for attempt := range attempts { // ${n}
	if err := client.Post(ctx, "/orders/${n}", body); err == nil || !temporary(err) {
		return err // a line that is long enough to be wider than a phone and has to scroll within its own box
	}
}
\`\`\`

- \`attempts\` comes from **settings**
- the body is sent again unchanged

| case | result |
|---|---|
| 503 | tried again |
| 400 | given up |`;

const long = Array.from({ length: 120 }, (_, n) => `line ${n + 1}: expected status 200 at checkout step ${n + 1}`).join("\n");

export const agents = [
  "api",
  "web",
  "docs",
  "payments",
  "nas/backup",
  "nas/meshtastic",
  "laptop/docs",
  "laptop/release-notes",
  "build/linux",
  "build/darwin",
  longName,
  "laptop/checkout-flow-end-to-end-tests-of-the-storefront",
];

// fill sends all of it and says where the interesting parts are.
export async function fill(rig, { messages = 1000, thread: turns = 400 } = {}) {
  for (const id of agents) {
    await rig.as(id, "register_agent", { type: id.endsWith("docs") ? "codex" : "claude-code", cwd: `/home/ana/src/${id}`, capabilities: ["review"] });
    await rig.as(id, "set_status", { status: "busy", current_task: `Move ${id} to the new orders schema without stopping the checkout` });
  }
  const first = await rig.as("web", "send_message", {
    target: "api",
    message: "Which fields does GET /orders answer with?\n\nI need the total and the currency for the list.",
  });
  const thread = first.thread ?? first.id;
  await rig.as("api", "reply", { message_id: first.id, response: code(0) });
  for (let n = 2; n < turns; n++) {
    const [from, target] = n % 2 === 0 ? ["web", "api"] : ["api", "web"];
    await rig.as(from, "send_message", {
      target,
      thread,
      expects_reply: false,
      message: n % 10 === 3 ? code(n) : n === turns - 5 ? long : `Turn ${n}: the schema is checked, going on with the next table.`,
    });
  }
  const rest = Math.max(0, messages - turns);
  for (let n = 0; n < rest; n++) {
    const from = agents[n % agents.length];
    const target = agents[(n * 5 + 1) % agents.length];
    if (from === target) continue;
    await rig.as(from, "send_message", { target, message: `Please look at change ${n}.\n\nIt renames a column.`, expects_reply: n % 3 === 0 });
  }
  const asked = {};
  asked.overdue = (
    await rig.as("docs", "escalate_to_human", {
      reason: "The handbook has two spellings and people search for both.",
      question: "Which spelling stays?",
      deadline: "1s",
    })
  ).message_id;
  asked.plain = (await rig.as("payments", "escalate_to_human", { reason: "May I rotate the sandbox key?" })).message_id;
  asked.soon = (
    await rig.as("api", "escalate_to_human", {
      reason: "The migration drops a column that two old clients still read.",
      question: "May I drop orders.legacy_total?",
      choices: ["drop it", longChoice],
      deadline: "5m",
    })
  ).message_id;
  asked.named = (await rig.as(longName, "escalate_to_human", { reason: code(7), deadline: "2h" })).message_id;
  // Three wait behind api: two at once and one through web.
  await rig.as("web", "send_message", { target: "api", message: "Is the new column there yet?" });
  await rig.as("laptop/docs", "send_message", { target: "api", message: "Which name does the column get?" });
  await rig.as("laptop/release-notes", "send_message", { target: "web", message: "What changed in the list of orders?" });
  for (const id of ["web", "api", longName]) await rig.as(id, "room_join", { room: "planning" });
  await rig.as("web", "room_join", { room: "incident-2026-11-checkout-totals-differ-between-list-and-receipt" });
  await rig.as(longName, "room_post", { room: "planning", message: code(8) });
  for (let n = 0; n < 4; n++) await rig.as("api", "room_post", { room: "planning", message: `Table ${n} is moved.` });
  await rig.as("payments", "send_message", { target: "role:review", message: "Who is free to look at the rounding of totals?" });
  for (let n = 0; n < 3; n++)
    await rig.as("nas/backup", "send_message", { target: "human", message: `The copy of last night is ${14 + n} GiB.`, expects_reply: false });
  return { thread, asked };
}
