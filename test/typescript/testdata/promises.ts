// What the TypeScript client promises, shown before a real coordinator. Faults are made by a fetch
// that loses answers.
import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import test from "node:test";
import { C3poError, Client, type StreamEvent, Unanswered, textOf } from "@c3po-dev/client";

let named = 0;
const open = (more: object = {}) => Client.open({ agent: `agent-${++named}`, ...more });

// losing is a fetch that loses the first so many answers to a path, and counts the requests.
function losing(path: string, answers: number) {
  const seen: string[] = [];
  const fetching: typeof fetch = async (to, init) => {
    const answer = await fetch(to, init);
    if (!String(to).endsWith(path)) return answer;
    seen.push(String(init?.body));
    if (seen.length <= answers) throw new TypeError("fetch failed");
    return answer;
  };
  return { seen, fetch: fetching };
}

test("a send whose answer is lost is repeated under its key, and stored once", async () => {
  const to = await open();
  const lost = losing("/send_message", 2);
  const from = await open({ fetch: lost.fetch });
  const receipt = await from.tell(to.id, "once");
  assert.equal(lost.seen.length, 3);
  assert.equal(new Set(lost.seen).size, 1);
  const inbox = await to.getMessages();
  assert.deepEqual(
    inbox.rows.map((m) => [m.id, textOf(m)]),
    [[receipt.id, "once"]],
  );
  assert.equal(inbox.count, 1);
});

test("what never gets an answer has an unknown outcome, and may be repeated", async () => {
  const to = await open();
  const from = await open({ fetch: losing("/send_message", 1000).fetch, patience: 200 });
  await assert.rejects(from.tell(to.id, "maybe"), (err) => {
    assert(err instanceof C3poError);
    assert.equal(err.code, "UNKNOWN_OUTCOME");
    assert(err.isRetrySafe);
    return true;
  });
});

test("a coordinator that nobody listens for is down, and is said to be at once", async () => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await assert.rejects(open({ url: `http://127.0.0.1:${port}`, patience: 60_000 }), (err) => {
    assert(err instanceof C3poError);
    assert.equal(err.code, "COORD_DOWN");
    assert.equal(err.status, 0);
    return true;
  });
});

test("what is no address is refused before anything is sent", () => {
  assert.throws(
    () => new Client({ agent: "me", url: "localhost" }),
    (err) => err instanceof C3poError && err.code === "INVALID_REQUEST" && err.suggestion.includes("http://"),
  );
});

test("a refusal has a code, a sentence and a suggestion, and is not repeated", async () => {
  const lost = losing("/send_message", 0);
  const from = await open({ fetch: lost.fetch });
  await assert.rejects(from.tell("nobody-of-that-name", "hi"), (err) => {
    assert(err instanceof C3poError);
    assert.equal(err.code, "AGENT_NOT_FOUND");
    assert.equal(err.status, 404);
    assert.equal(err.retry, "no");
    assert(!err.isRetrySafe && err.message && err.suggestion);
    return true;
  });
  assert.equal(lost.seen.length, 1);
});

test("a question that is waited for no longer stands, and its answer is had later", async () => {
  const [asker, asked] = [await open(), await open()];
  const question = await asker.ask(asked.id, "Are you there?", { signal: AbortSignal.timeout(300) }).then(
    () => assert.fail("nobody answers"),
    (err: unknown) => {
      assert(err instanceof Unanswered, String(err));
      return err.question;
    },
  );
  const stop = new AbortController();
  const serving = asked.serve(() => "yes", { signal: stop.signal });
  assert.equal(textOf(await asker.awaitAnswer(question)), "yes");
  stop.abort();
  await serving;
});

test("what a handler fails with is the answer and says so, and so is an answer that is refused", async () => {
  const [asker, asked] = [await open(), await open()];
  const stop = new AbortController();
  const serving = asked.serve(
    (m) => {
      if (textOf(m) === "too much") return "x".repeat(60_000);
      throw new Error("the disk is full");
    },
    { signal: stop.signal },
  );
  for (const [question, want] of [
    ["why", "the disk is full"],
    ["too much", "There is an answer, but it was refused"],
  ] as const) {
    const answer = await asker.ask(asked.id, question);
    assert.equal(answer.status, "error");
    assert(textOf(answer).startsWith(want), textOf(answer));
  }
  stop.abort();
  await serving;
});

test("a list comes in pages", async () => {
  const me = await open();
  await open();
  const ids: string[] = [];
  let cursor = "";
  do {
    const page = await me.listAgents({ limit: 1, cursor });
    assert.equal(page.rows.length, 1);
    ids.push(...page.rows.map((a) => a.id));
    cursor = page.next;
  } while (cursor);
  assert(ids.length >= 2 && new Set(ids).size === ids.length);
});

test("events go on after the place of the last one, and miss nothing", async () => {
  const me = await open();
  const first: StreamEvent[] = [];
  for await (const one of me.events()) {
    first.push(one);
    if (one.start) await open();
    else break;
  }
  assert(first[0]?.start && first[1]?.event);
  const missed = await open(); // while nobody follows
  for await (const { event, start } of me.events({ after: first[1].at })) {
    if (start) assert(start.recovered);
    if (event?.agent === missed.id && event.kind === "registered") break;
  }
});

test("a stream that breaks is opened again after its last event, and says nothing of it", async () => {
  let streams = 0;
  const places: (string | null)[] = [];
  const breaking: typeof fetch = async (to, init) => {
    if (!String(to).endsWith("/api/events")) return fetch(to, init);
    streams++;
    places.push(new Headers(init?.headers).get("Last-Event-ID"));
    const cut = new AbortController();
    const answer = await fetch(to, { ...init, signal: AbortSignal.any([cut.signal, ...(init?.signal ? [init.signal] : [])]) });
    if (streams === 1) setTimeout(() => cut.abort(), 300);
    return answer;
  };
  const me = await open({ fetch: breaking });
  let starts = 0;
  for await (const { event, start } of me.events({ signal: AbortSignal.timeout(30_000) })) {
    if (start) starts++;
    if (start && streams === 1) {
      const waiting = setInterval(() => {
        if (streams < 2) return;
        clearInterval(waiting);
        void open({ agent: "newcomer" });
      }, 20);
    }
    if (event?.agent === "newcomer" && streams === 2) break;
  }
  assert.equal(starts, 1);
  assert(places[1]);
});

test("a call that its caller ends fails with why", async () => {
  const me = await open();
  const stop = new AbortController();
  const waiting = me.waitForMessage({ timeout: 60 }, { signal: stop.signal });
  stop.abort(new Error("enough"));
  await assert.rejects(waiting, /enough/);
});

test("a worker that lost its task to another answers too late, and works on", async (t) => {
  const run = "elsewhere:7:99";
  const asker = await open();
  const [slow, fast] = [await open({ capabilities: ["fence"], run }), await open({ run: "elsewhere:8:99" })];
  const stop = new AbortController();
  t.after(() => stop.abort());
  let began = () => {};
  let go = () => {};
  const [begun, gone] = [new Promise<void>((resolve) => (began = resolve)), new Promise<void>((resolve) => (go = resolve))];
  const serving = slow.serve(
    async (m) => {
      began();
      if (textOf(m) === "first") await gone;
      return "slow";
    },
    { signal: stop.signal },
  );
  const { id } = await asker.sendMessage({ target: "role:fence", message: "first" });
  await begun;
  await fast.registerAgent({ capabilities: ["fence"] });
  await fast.reportDeath({ agent_id: slow.id, run });
  const served = fast.serve(() => "fast", { signal: stop.signal });
  assert.equal(textOf(await awaited(asker, id)), "fast");
  go();
  // Its late answer is refused, and either of the two has the next task.
  const { id: next } = await asker.sendMessage({ target: "role:fence", message: "second" });
  assert.match(textOf(await awaited(asker, next)), /slow|fast/);
  const answers = (await asker.getMessages()).rows.filter((m) => m.message_id === id);
  assert.deepEqual(answers.map(textOf), ["fast"]);
  stop.abort();
  await Promise.all([serving.catch((err: unknown) => assert(err instanceof C3poError && err.code === "SUPERSEDED", String(err))), served]);
});

// awaited is the answer, also if its asker hears in between that a worker died.
async function awaited(asker: Client, id: string) {
  for (;;) {
    try {
      return await asker.awaitAnswer(id, { signal: AbortSignal.timeout(60_000) });
    } catch (err) {
      if (!(err instanceof Unanswered) || err.because.status === "timeout") throw err;
    }
  }
}

test("a question that is withdrawn while it is handled gets no answer, and serving goes on", async (t) => {
  const [asker, asked] = [await open(), await open()];
  const stop = new AbortController();
  t.after(() => stop.abort());
  const serving = asked.serve(
    async (m) => {
      if (textOf(m) === "first") await asker.cancel({ message_id: m.id });
      return "done";
    },
    { signal: stop.signal },
  );
  const { id } = await asker.sendMessage({ target: asked.id, message: "first" });
  assert.equal(textOf(await asker.ask(asked.id, "second")), "done");
  assert.deepEqual(
    (await asker.getMessages()).rows.filter((m) => m.message_id === id),
    [],
  );
  stop.abort();
  await serving;
});
