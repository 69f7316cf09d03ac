import { type Client, isMessage } from "./client.js";
import { C3poError } from "./error.js";
import { jitter, randomKey, sleep } from "./time.js";
import type * as wire from "./wire.js";

/**
 * A Handler deals with one message. What it returns answers a question; a message that asks for nothing gets no answer.
 * What it throws is the answer too, and is marked as an error. Its signal ends when the message is no longer this
 * agent's: another agent of the queue has it, or another program has the agent's id.
 */
export type Handler = (message: wire.Message, signal: AbortSignal) => Promise<string | void> | string | void;

// How often an agent that is at work says that it is. A claim of a queue's message lapses after fifteen minutes of
// silence, an agent is offline after 90 seconds.
const keepEveryMs = 30_000;
// For how long what a handler has finished is still stored when serving ends.
const graceMs = 10_000;

/** serve hands mail to a handler until the signal ends: see Client.serve. */
export async function serve(client: Client, handle: Handler, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    try {
      await deal(client, await next(client, signal), handle, signal);
    } catch (err) {
      if (!signal?.aborted) throw err;
    }
  }
}

// next waits for mail as long as it takes.
async function next(client: Client, signal?: AbortSignal): Promise<wire.Message> {
  for (;;) {
    const got = await persist(() => client.waitForMessage({ kind: "incoming", timeout: 3600 }, { ...(signal ? { signal } : {}) }), signal);
    if (isMessage(got)) return got;
    if (got.status !== "timeout" && got.status !== "retry") await sleep(1000, signal); // it is paused, for example
  }
}

// deal has a message handled, and answers or acks it.
async function deal(client: Client, m: wire.Message, handle: Handler, signal?: AbortSignal): Promise<void> {
  let answer: string;
  let failed = false;
  try {
    answer = await handled(client, m, handle, signal);
  } catch (err) {
    if (isSuperseded(err)) throw err;
    if (signal?.aborted) return; // the message stays, for the next run or another agent
    failed = true;
    answer = err instanceof Error ? err.message : String(err);
  }
  const later = outlast(signal);
  try {
    if (!m.expects_reply) {
      await persist(() => client.ackMessages({ message_ids: [m.id] }, { signal: later.signal }), later.signal);
      return;
    }
    try {
      await reply(client, m, answer, failed, later.signal);
    } catch (err) {
      if (!isRefused(err) || failed) throw err;
      // Its asker hears why: an answer can be too long, for example.
      await reply(client, m, `There is an answer, but it was refused: ${err.message}`, true, later.signal);
    }
  } catch (err) {
    if (!isRefused(err)) throw err; // else it was cancelled, or another agent has it by now
  } finally {
    later.done();
  }
}

async function reply(client: Client, m: wire.Message, response: string, failed: boolean, signal: AbortSignal): Promise<void> {
  const input: wire.ReplyInput = { message_id: m.id, response, client_key: randomKey(), ...(failed ? { status: "error" } : {}) }; // one key for all tries
  await persist(() => client.reply(input, { signal }), signal);
}

// handled runs the handler and says meanwhile that the agent is at work.
async function handled(client: Client, m: wire.Message, handle: Handler, signal?: AbortSignal): Promise<string> {
  const working = new AbortController();
  const stop = () => working.abort(signal?.reason);
  signal?.addEventListener("abort", stop, { once: true });
  const beat = setInterval(() => void keep(client, m).catch((err: unknown) => working.abort(err)), keepEveryMs);
  try {
    const answer = await handle(m, working.signal);
    if (working.signal.aborted && isSuperseded(working.signal.reason)) throw working.signal.reason as Error;
    return answer ?? "";
  } finally {
    clearInterval(beat);
    signal?.removeEventListener("abort", stop);
  }
}

// keep says that the agent is at work on a message. It fails if the message is not its own
// any more, not if the coordinator is away.
async function keep(client: Client, m: wire.Message): Promise<void> {
  try {
    await (m.claim ? client.claim({ message_id: m.id }) : client.ping());
  } catch (err) {
    if (isSuperseded(err) || isRefused(err)) throw err;
  }
}

// persist repeats a call while the coordinator, or its store, is away.
async function persist<Out>(call: () => Promise<Out>, signal?: AbortSignal): Promise<Out> {
  for (let pause = 100; ; pause = Math.min(2 * pause, 5000)) {
    try {
      return await call();
    } catch (err) {
      if (!(err instanceof C3poError) || (!err.isRetrySafe && err.code !== "RATE_LIMITED")) throw err;
      await sleep(jitter(pause), signal);
    }
  }
}

// outlast is a signal that ends a while after another.
function outlast(signal?: AbortSignal): { signal: AbortSignal; done: () => void } {
  const later = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const begin = () => (timer = setTimeout(() => later.abort(signal?.reason), graceMs));
  if (signal?.aborted) begin();
  else signal?.addEventListener("abort", begin, { once: true });
  return {
    signal: later.signal,
    done: () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", begin);
    },
  };
}

function isRefused(err: unknown): err is C3poError {
  return err instanceof C3poError && err.retry === "no";
}

function isSuperseded(err: unknown): boolean {
  return err instanceof C3poError && err.code === "SUPERSEDED";
}
