import type { Connection } from "./connection.js";
import { C3poError, final, passing } from "./error.js";
import { reasonOf, sleep } from "./time.js";
import type * as wire from "./wire.js";

/** A StreamEvent is either something that happened, or the word a stream begins with. */
export interface StreamEvent {
  /** The place of the event: follow on after it, at any coordinator. */
  at: string;
  event?: wire.Event;
  start?: wire.StreamStart;
}

/** FollowOptions say where a stream begins and when it ends. */
export interface FollowOptions {
  /** The place of the last event that is known; from now on if empty. */
  after?: string;
  signal?: AbortSignal;
  /** After how many milliseconds a coordinator that never answered is down; never if left out. */
  patience?: number;
  /** The stream has ended and is opened again soon. */
  onLost?: () => void;
}

const silenceMs = 50_000; // a living stream says something every 15 s
const firstPauseMs = 250;
const maxPauseMs = 4000;

/**
 * follow gives what happens in the caller's space until the signal ends or the coordinator refuses: in one array
 * what came together. It outlives restarts of the coordinator, and goes on after the last event it had.
 */
export async function* follow(connection: Connection, options: FollowOptions = {}): AsyncGenerator<StreamEvent[], void, void> {
  const { signal, patience = Infinity, onLost } = options;
  const giveUp = Date.now() + patience;
  const place: Place = { after: options.after ?? "", pause: firstPauseMs };
  for (;;) {
    signal?.throwIfAborted();
    try {
      yield* read(connection, place, signal);
    } catch (err) {
      if (signal?.aborted) throw reasonOf(signal);
      if (err instanceof C3poError && !passing(err)) throw err;
      if (!connection.reached && Date.now() > giveUp) throw final(err, false, true);
    }
    onLost?.();
    await sleep(place.pause * (0.75 + Math.random() / 2), signal);
    place.pause = Math.min(place.pause * 2, maxPauseMs);
  }
}

/** events is follow, one at a time, without the word of a stream that came back and missed nothing. */
export async function* events(connection: Connection, options: FollowOptions = {}): AsyncGenerator<StreamEvent, void, void> {
  let begun = false;
  for await (const batch of follow(connection, { patience: connection.patience, ...options })) {
    for (const one of batch) {
      if (one.start?.recovered && begun) continue;
      begun = true;
      yield one;
    }
  }
}

interface Place {
  after: string;
  pause: number; // before the next try
}

// read is one stream, from the place where the last ended.
async function* read(connection: Connection, place: Place, signal?: AbortSignal): AsyncGenerator<StreamEvent[], void, void> {
  const attempt = new AbortController();
  const stop = () => attempt.abort();
  signal?.addEventListener("abort", stop);
  // A connection that has died says nothing, so silence ends it.
  let watchdog = setTimeout(stop, silenceMs);
  try {
    const answer = await connection.open(
      "/api/events",
      { Accept: "text/event-stream", ...(place.after ? { "Last-Event-ID": place.after } : {}) },
      attempt.signal,
    );
    if (!answer.body) return;
    const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) return;
      clearTimeout(watchdog);
      watchdog = setTimeout(stop, silenceMs);
      const blocks = (rest + value).split("\n\n");
      rest = blocks.pop() ?? "";
      const came: StreamEvent[] = [];
      for (const block of blocks) {
        const entry = parse(block);
        if (entry.retry) place.pause = entry.retry;
        if (!entry.data) continue;
        if (entry.id) place.after = entry.id;
        if (entry.name === "resume" || entry.name === "reset") {
          place.pause = firstPauseMs;
          came.push({ at: place.after, start: JSON.parse(entry.data) as wire.StreamStart });
        } else if (!entry.name) {
          came.push({ at: place.after, event: JSON.parse(entry.data) as wire.Event });
        } // another name is of a later version
      }
      if (came.length > 0) yield came;
    }
  } finally {
    clearTimeout(watchdog);
    signal?.removeEventListener("abort", stop);
    stop();
  }
}

/** An Entry is one server-sent event as it was written. */
export interface Entry {
  id?: string;
  name?: string;
  data?: string;
  retry?: number; // ms
}

/** parse reads one entry of a text/event-stream. */
export function parse(block: string): Entry {
  const entry: Entry = {};
  for (const row of block.split("\n")) {
    const at = row.indexOf(":");
    if (at <= 0) continue;
    const value = row.slice(row[at + 1] === " " ? at + 2 : at + 1);
    switch (row.slice(0, at)) {
      case "id":
        entry.id = value;
        break;
      case "event":
        entry.name = value;
        break;
      case "data":
        entry.data = (entry.data ?? "") + value;
        break;
      case "retry":
        entry.retry = Number(value) || 1000;
        break;
    }
  }
  return entry;
}
