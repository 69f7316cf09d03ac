// The functions that decide what the page shows, one by one.
import assert from "node:assert/strict";
import { test } from "node:test";
import { load } from "./load.mjs";

const now = Date.parse("2026-11-15T12:00:00Z");
const before = (seconds) => new Date(now - seconds * 1000).toISOString();

test("a step of the chart has no number if it began before events are known", async () => {
  const { counted, points, step } = await load("rates.ts");
  const events = [5, 15, 15, 4000].map((s) => ({ kind: "accepted", at: before(s) }));
  const [sent] = counted(events, now - 60_000, now);
  assert.equal(sent.length, points);
  assert.deepEqual(sent.slice(-3), [2, 1, 0]);
  assert.equal(
    sent.findIndex((n) => n !== null),
    points - 1 - 60_000 / step,
  );
  const [all] = counted(events, 0, now);
  assert.ok(all.every((n) => n !== null));
});

test("characters that act instead of being seen are spelt out", async () => {
  const { plain } = await load("plain.ts");
  assert.equal(plain("a\u202eb\r\nc\u0000"), "a⟨U+202E⟩b\nc⟨U+0000⟩");
  // A mark that was written so is no mark.
  assert.equal(plain("⟨U+202E⟩ ⟨x⟩"), "⟨U+27E8⟩U+202E⟩ ⟨x⟩");
  // A Cyrillic letter in a word that reads as Latin is marked; a Russian word is not.
  assert.equal(plain("Аllow оnce, работа с базой, Δx, PDFки"), "⟨U+0410⟩llow ⟨U+043E⟩nce, работа с базой, Δx, PDFки");
});

test("a size is in bytes up to a kibibyte, then in the largest unit below it", async () => {
  const { sizeText } = await load("plain.ts");
  assert.deepEqual([0, 1023, 1024, 1536, 50 << 20, 3 * 2 ** 30].map(sizeText), ["0 bytes", "1023 bytes", "1.0 KiB", "1.5 KiB", "50.0 MiB", "3.0 GiB"]);
});

test("an entry of the stream is read whatever its order", async () => {
  const { parse } = await load("../../client/typescript/src/events.ts");
  assert.deepEqual(parse('data: {"a": "b: c"}\nid: 1:7\nevent: resume\nretry: 250'), { data: '{"a": "b: c"}', id: "1:7", name: "resume", retry: 250 });
  assert.deepEqual(parse(": still there"), {});
});

test("a deadline says how long ago or until when", async () => {
  const { due } = await load("plain.ts");
  assert.equal(due(before(120), now), "was due 2 min ago");
  assert.match(due(before(-600), now), /^answer by \d\d:\d\d$/);
  assert.match(due(before(-100_000), now), /^answer by .*2026/);
});

test("a long text is cut, one that is hardly longer is not", async () => {
  const { firstLines } = await load("plain.ts");
  const lines = (n) => Array.from({ length: n }, (_, i) => `${i}`).join("\n");
  assert.equal(firstLines(lines(28), 24), lines(28));
  assert.equal(firstLines(lines(120), 24), lines(24));
});

test("a chosen row stays chosen while others come, and its place is kept when it goes", async () => {
  const { place } = await load("list.tsx");
  assert.equal(place(["new", "a", "b"], "a", 0), 1);
  assert.equal(place(["a", "c"], "b", 1), 1);
  assert.equal(place(["a"], "b", 4), 0);
  assert.equal(place(["new", "a"], "", 5), 0);
  assert.equal(place([], "a", 3), 0);
});

test("only a message that may belong to a conversation is asked for its thread", async () => {
  const { candidates } = await load("thread.ts");
  const messages = [{ id: "api::web::1", from_agent: "api", to_agent: "web" }];
  const event = (kind, message_id) => ({ kind, message_id });
  assert.deepEqual(
    candidates([event("accepted", "docs::build::1"), event("acked", "web::api::9"), event("accepted", "api::web::1"), event("joined")], messages),
    [],
  );
  assert.deepEqual(candidates([event("answered", "web::api::2"), event("accepted", "docs::web::3")], messages), ["web::api::2", "docs::web::3"]);
});

test("traffic is counted by its direction, and a way on which somebody waits comes first", async () => {
  const { traffic } = await load("traffic.ts");
  const event = (message_id, seconds, kind = "accepted") => ({ kind, message_id, at: before(seconds) });
  const events = [
    event("a::b::1", 5),
    event("a::b::2", 9),
    event("b::a::3", 7, "answered"),
    event("a::b::4", 700),
    event("system::a::5", 1),
    event("a::b::1", 3, "acked"),
  ];
  const stuck = { hold_ups: [{ waits: [{ id: "9", from_agent: "c", to_agent: "a", since: before(50) }] }] };
  assert.deepEqual(
    traffic(events, stuck, now).map((w) => [w.name, w.count, w.wait?.id]),
    [
      ["c → a", 0, "9"],
      ["a → b", 2, undefined],
      ["b → a", 1, undefined],
    ],
  );
});

test("dead letters are put together by reader and reason, the latest group first", async () => {
  const { grouped, letterRows } = await load("letters.ts");
  const letter = (id, to_agent, reason, seconds, kind = "message") => ({ id, to_agent, reason, kind, died_at: before(seconds) });
  const groups = grouped([
    letter("1", "a", "expired", 90),
    letter("2", "b", "expired", 50),
    letter("3", "a", "expired", 20, "bounce"),
    letter("4", "a", "corrupt", 70),
  ]);
  assert.deepEqual(
    groups.map((g) => [g.to, g.reason, g.letters.map((l) => l.id), g.bounces]),
    [
      ["a", "expired", ["3", "1"], 1],
      ["b", "expired", ["2"], 0],
      ["a", "corrupt", ["4"], 0],
    ],
  );
  assert.deepEqual(
    letterRows(groups, new Set([groups[1].name])).map((r) => r.kind),
    ["group", "group", "letter", "group"],
  );
});

test("queues are what agents can do, and what mail waits for, the fullest first", async () => {
  const { queuesOf } = await load("queues.ts");
  const agents = [
    { id: "a", capabilities: ["review", "not a queue"] },
    { id: "b", capabilities: ["build", "review"] },
  ];
  const got = queuesOf(agents, [
    { id: "1", to_agent: "role/review" },
    { id: "2", to_agent: "role/gone" },
    { id: "3", to_agent: "a" },
  ]);
  assert.deepEqual(
    got.map((q) => [q.name, q.members.map((m) => m.id), q.open.map((t) => t.id)]),
    [
      ["gone", [], ["2"]],
      ["review", ["a", "b"], ["1"]],
      ["build", ["b"], []],
    ],
  );
});

test("a route survives any id", async () => {
  const { parts, to } = await load("route.ts");
  assert.deepEqual(parts(to("agents", "a/b %#?")), ["agents", "a/b %#?"]);
  assert.deepEqual(parts("#/a/%E0%A4%A"), ["a", "%E0%A4%A"]);
});

test("an agent that asks often hides nobody", async () => {
  const { sorted } = await load("needs.ts");
  const loud = Array.from({ length: 20 }, (_, n) => ({ id: `l${n}`, from_agent: "loud", timestamp: "2026-01-01T00:00:00Z", deadline: "2026-01-01T00:00:01Z" }));
  const quiet = { id: "q", from_agent: "quiet", timestamp: "2026-01-01T00:00:00Z" };
  const order = sorted([...loud, quiet], new Map()).map((q) => q.id);
  assert.equal(order.length, 21);
  assert.equal(order[3], "q");
});

test("what needs the person is sorted by deadline, by who waits behind it, and by age", async () => {
  const { countdown, sorted, stateOfThings } = await load("needs.ts");
  const q = (id, more) => ({ id, from_agent: id, timestamp: before(100), ...more });
  const late = q("late", { deadline: before(60) });
  const soon = q("soon", { deadline: before(-300) });
  const old = q("old", { timestamp: before(900) });
  const blocking = q("blocking");
  const behind = new Map([["blocking", 3]]);
  assert.deepEqual(
    sorted([old, blocking, soon, late], behind).map((m) => m.id),
    ["late", "soon", "blocking", "old"],
  );
  assert.equal(stateOfThings([old, blocking, soon, late], behind, now), "4 need you, 1 overdue; answering blocking frees 3 agents.");
  assert.equal(stateOfThings([old], new Map(), now), "1 needs you.");
  assert.deepEqual(countdown(late.deadline, now), { text: "overdue 1 min", urgency: "overdue" });
  assert.deepEqual(countdown(soon.deadline, now), { text: "5 min left", urgency: "soon" });
  assert.deepEqual(countdown(before(-7200), now), { text: "2 h left", urgency: "later" });
  assert.deepEqual(countdown(before(-7190), now), { text: "1 h 59 min left", urgency: "later" });
  assert.equal(countdown(undefined, now), undefined);
});

test("markdown becomes blocks of text, and an address is shown instead of linked", async () => {
  const { parseMarkdown, inline, subject } = await load("markdown.ts");
  const text =
    "# Plan\n\nRun `go test` **now**:\n\n```go\nfunc f() {\n\n}\n```\n- one\n- two `x`\n\n1. first\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n> said\n\n    indented\n";
  assert.deepEqual(
    parseMarkdown(text).map((b) => b.kind),
    ["heading", "paragraph", "code", "list", "list", "table", "quote", "code"],
  );
  assert.deepEqual(parseMarkdown(text)[2], { kind: "code", language: "go", text: "func f() {\n\n}" });
  assert.deepEqual(inline("a `b` **c**"), [
    { kind: "text", text: "a " },
    { kind: "code", text: "b" },
    { kind: "text", text: " " },
    { kind: "bold", text: "c" },
  ]);
  assert.deepEqual(inline("[docs](https://example.org/x)"), [{ kind: "text", text: "docs (https://example.org/x)" }]);
  // A fence that is never closed holds the rest; nothing of a text is lost.
  assert.deepEqual(parseMarkdown("```\n<img src=x>"), [{ kind: "code", language: "", text: "<img src=x>" }]);
  assert.equal(subject("\n## **Which** fields?\n\nmore"), "Which fields?");
});

test("a hostile text is parsed in no time", async () => {
  const { parseMarkdown } = await load("markdown.ts");
  const began = performance.now();
  for (const sign of ["`", "*", "**a", "[", "[a](", "|", "> ", "- ", "#", "```\n", "~", "| - |\n"]) parseMarkdown(sign.repeat(50_000 / sign.length));
  assert.ok(performance.now() - began < 5000, `${performance.now() - began} ms`);
});

test("an agent's waits are found in every tree, each once", async () => {
  const { waitsOf } = await load("needs.ts");
  const wait = (id, from_agent, to_agent) => ({ id, from_agent, to_agent });
  const twice = wait("3", "web", "api");
  const stuck = { hold_ups: [{ waits: [wait("1", "api", "human"), twice] }, { waits: [wait("2", "docs", "nas"), twice] }] };
  const { out, in: into } = waitsOf(stuck, "api");
  assert.deepEqual([out.map((w) => w.id), into.map((w) => w.id)], [["1"], ["3"]]);
  assert.deepEqual(waitsOf(undefined, "api"), { out: [], in: [] });
});

test("an agent's recent messages are put together by conversation, the latest first", async () => {
  const { talks } = await load("needs.ts");
  const m = (id, thread, from_agent, to_agent) => ({ id, thread, from_agent, to_agent });
  const got = talks([m("1", "a", "api", "web"), m("2", "b", "docs", "api"), m("3", "a", "web", "api"), m("4", "", "api", "human")], "api");
  assert.deepEqual(
    got.map((t) => [t.thread, t.last.id, t.count, t.others]),
    [
      ["4", "4", 1, ["human"]],
      ["a", "3", 2, ["web"]],
      ["b", "2", 1, ["docs"]],
    ],
  );
});

test("what is known of an agent comes with how it is known", async () => {
  const { evidence } = await load("plain.ts");
  const a = { status: "online", alive: true, last_seen: before(30) };
  assert.equal(evidence(a, now), "No session of it says what it does. Its last call was 30 s ago. Its process runs.");
  assert.match(
    evidence({ ...a, alive: null, state: "working", state_since: before(600) }, now),
    /^Its session says so since .*2026.* Its last call was 30 s ago\.$/,
  );
  assert.match(evidence({ ...a, state: "unknown" }, now), /^Its session does not react\. /);
  assert.match(evidence({ ...a, status: "offline", alive: false }, now), /^It has no session\. .* Its process has ended\.$/);
});

test("a name leads to its own page, and the coordinator's to none", async () => {
  const { home } = await load("mail.ts");
  assert.deepEqual(home("nas/backup"), ["agents", "nas/backup"]);
  assert.deepEqual(home("human"), ["questions"]);
  assert.deepEqual(home("role/review"), ["queues", "review"]);
  assert.deepEqual(home("api#lobby"), ["rooms", "lobby"]);
  assert.equal(home("system"), undefined);
});

test("a chain is one sequence in the order it was sent, with a lane for each agent", async () => {
  const { sequence } = await load("sequence.ts");
  const m = (id, thread, from_agent, to_agent, seconds, kind = "message") => ({
    id,
    thread,
    from_agent,
    to_agent,
    kind,
    timestamp: before(seconds),
    message: id,
    response: id,
  });
  const { lanes, steps } = sequence([[m("2", "b", "api", "docs", 20), m("3", "b", "docs", "api", 10, "reply")], [m("1", "a", "web", "api", 30)]]);
  assert.deepEqual(lanes, ["web", "api", "docs"]);
  assert.deepEqual(
    steps.map((s) => [s.id, s.from, s.to, s.reply, s.earlier]),
    [
      ["1", 0, 1, false, true],
      ["2", 1, 2, false, false],
      ["3", 2, 1, true, false],
    ],
  );
  assert.deepEqual(sequence([]), { lanes: [], steps: [], cut: false });
});

test("a message has six facts, and the latest says how far it has come", async () => {
  const { factsOf, latest } = await load("facts.ts");
  const trace = {
    state: "pending",
    expects_reply: true,
    accepted: { at: before(9) },
    notified: [],
    served: [{ at: before(5), route: "hook" }],
    received: null,
    ended: null,
    answered: [],
    deliveries: 2,
  };
  const steps = factsOf(trace);
  assert.equal(steps.length, 6);
  assert.equal(latest(steps).name, "served");
  assert.equal(steps[2].why, "Its text was given to a session (through hook, 2 times)");
  const dead = factsOf({ ...trace, state: "dead", reason: "recipient_removed", ended: { at: before(1) } });
  assert.deepEqual([latest(dead).name, latest(dead).bad], ["dead: recipient removed", true]);
});

test("what is typed finds names before notes, and their beginnings first", async () => {
  const { find } = await load("find.ts");
  const target = (name, note = "") => ({ kind: "agent", name, note, route: [name] });
  const all = [target("laptop/docs", "api"), target("rapid"), target("nas/api"), target("api")];
  assert.deepEqual(
    find(all, "API").map((t) => t.name),
    ["api", "nas/api", "laptop/docs", "rapid"],
  );
  assert.deepEqual(
    find(all, "nas ap").map((t) => t.name),
    ["nas/api"],
  );
  assert.equal(find(all, "").length, 4);
});

test("the icon counts to nine", async () => {
  const { iconFor } = await load("attention.ts");
  assert.deepEqual([0, 1, 9, 10].map(iconFor), ["/assets/icon.svg", "/assets/icon-1.svg", "/assets/icon-9.svg", "/assets/icon-more.svg"]);
});

test("only an event about somebody who waits, or is waited for, changes who waits for whom", async () => {
  const { touches } = await load("data.ts");
  const stuck = { hold_ups: [{ agent: "base", waits: [{ from_agent: "front", to_agent: "base" }] }] };
  const event = (message_id, kind = "accepted") => [{ kind, message_id }];
  assert.ok(touches(event("front::x::1"), stuck));
  assert.ok(touches(event("x::human::1"), stuck));
  assert.ok(!touches(event("x::y::1"), stuck));
  assert.ok(!touches(event("front::x::1", "acked"), stuck));
});

test("a conversation that was just read replaces the one that was there", async () => {
  const { merged } = await load("conversations.ts");
  const c = (thread, turns) => ({ thread, turns });
  assert.deepEqual(merged([c("new", 1), c("a", 3)], [c("a", 2), c("b", 1)]), [c("new", 1), c("a", 3), c("b", 1)]);
});

test("code is divided into pieces that together are the code", async () => {
  const { highlight } = await load("highlight.ts");
  const go = 'for n := range 3 { // thrice\n\tsay("</code><img src=x onerror=alert(1)>")\n}';
  const pieces = highlight(go, "go");
  assert.equal(pieces.map((p) => p.text).join(""), go);
  assert.deepEqual(
    pieces.filter((p) => p.kind !== "").map((p) => [p.kind, p.text]),
    [
      ["key", "for"],
      ["key", "range"],
      ["num", "3"],
      ["com", "// thrice"],
      ["str", '"</code><img src=x onerror=alert(1)>"'],
    ],
  );
  assert.deepEqual(highlight("x = 1", "no-such-language"), [{ kind: "", text: "x = 1" }]);
});

test("code that was made to take long is left without colours, and the rest is soon done", async () => {
  const { highlight } = await load("highlight.ts");
  assert.equal(highlight("a ".repeat(5000), "python").length, 1);
  assert.equal(highlight("a\n".repeat(15_000), "python").length, 1);
  const signs = ["<", '"', "/*", "(", "{{", "a=", "<!--", "`${", "'''", "-", "#", "r#", "\\", "@a(", "0x", "=>"];
  for (const language of ["bash", "diff", "go", "java", "javascript", "json", "python", "rust", "sql", "typescript", "xml", "yaml"]) {
    for (const sign of signs) {
      const text = `${sign.repeat(Math.floor(900 / sign.length))}\n`.repeat(20);
      const began = process.cpuUsage();
      const pieces = highlight(text, language);
      const took = process.cpuUsage(began).user / 1000; // other work on the machine does not count
      assert.equal(pieces.map((p) => p.text).join(""), text);
      assert.ok(took < 1000, `${language} with ${sign}: ${took} ms`);
    }
  }
});

test("an end whose time is not recorded is shown without one", async () => {
  const { factsOf, happened, latest } = await load("facts.ts");
  const trace = { state: "dead", reason: "expired", accepted: { at: "2026-01-02T15:04:05Z" }, notified: [], served: [], answered: [], deliveries: 0 };
  const end = latest(factsOf(trace));
  assert.equal(end.name, "dead: expired");
  assert.equal(end.at, undefined);
  assert.equal(happened(end), true);
});

test("pictographs that are joined stay so, and nothing else is joined", async () => {
  const { plain } = await load("plain.ts");
  assert.equal(plain("👩‍💻 and 👩🏽‍💻"), "👩‍💻 and 👩🏽‍💻");
  assert.equal(plain("a\u200db 👩\u200dx \u200d👩"), "a⟨U+200D⟩b 👩⟨U+200D⟩x ⟨U+200D⟩👩");
});

test("a text without a letter is still called by its first line", async () => {
  const { subject } = await load("markdown.ts");
  assert.equal(subject("\n  \n🚀🚀\n"), "🚀🚀");
  assert.equal(subject("---\nDone."), "Done.");
  assert.equal(subject("```html\n<p>Done</p>\n```"), "<p>Done</p>");
  assert.equal(subject("```html"), "html");
});

test("an answer that was taken names what it allows or denies", async () => {
  const { decided, dressed } = await load("mail.ts");
  const question = (message, choices) => ({ kind: "escalation", from_agent: "api", message, choices });
  assert.deepEqual([question("Allow Bash in /src?"), question("Well?", ["Grant permission"]), question("Red or blue?", ["red", "blue"])].map(dressed), [
    true,
    true,
    false,
  ]);
  const asked = (command) => ({ kind: "approval", from_agent: "api", message: `Allow Bash in /src?\n\n${command}` });
  assert.equal(decided(asked("$ make"), "Allow once", true), "Allowed once: make");
  assert.equal(decided(asked("$ make"), "Deny", true), "Denied: make");
  assert.equal(decided(asked('$ rm "אב" ⟨2 spaces⟩'), "Deny", true), 'Denied: rm "⟨U+05D0⟩⟨U+05D1⟩" ⟨2 spaces⟩');
  assert.equal(decided(asked("$ make"), "Allow once", false), "Denied: make");
  assert.equal(decided(asked("$ rm -rf /\ntimeout: 5"), "Allow once", true), "Allowed once: rm -rf / …");
  assert.equal(decided(asked(`$ ls${" ".repeat(400)}; rm -rf /`), "Allow once", true), "Allowed once: ls ; rm -rf /");
  assert.equal(decided(asked(`$ ${"x".repeat(61)}`), "Deny", true), `Denied: ${"x".repeat(60)} …`);
  assert.equal(decided({ kind: "escalation", from_agent: "api", message: "Which?" }, "this\nthat", true), "Answered api");
});

test("what an answer has cost is unknown unless a client says so", async () => {
  const { costOf } = await load("facts.ts");
  const asked = { id: "a::b::1", answered: [] };
  const answered = { ...asked, answered: [{}] };
  assert.equal(costOf(asked), "");
  assert.equal(costOf(answered), "Cost unknown.");
  assert.equal(costOf({ ...answered, id: "a::human::1" }), "");
  const cost = { usage: { input_tokens: 1000, cache_read_tokens: 234 }, clients: ["codex"] };
  assert.equal(costOf({ ...answered, cost, chain_cost: { ...cost, messages: 1 } }), "Cost 1,234 tokens, as reported by codex.");
  const all = { usage: { output_tokens: 5000, micro_usd: 70_000 }, messages: 3 };
  assert.equal(costOf({ ...answered, chain_cost: all }), "Cost unknown. The whole conversation: 5,000 tokens, $0.07, from 3 answers.");
});
