import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { headers } from "./api";
import { type Session, setSession } from "./session";
import { parse } from "./stream";
import type { Event } from "./wire";

// The stream of what happens, read with fetch because an EventSource cannot
// send a token. It goes on after the last event it had, also at another
// coordinator, and begins anew only when the log no longer holds that place.

export type Line = "connecting" | "live" | "away";

const maxKept = 5000;
const silence = 40_000; // a living stream says something every 15 s
let line: Line = "connecting";
let recent: Event[] = [];
let since = Infinity; // from when on recent has all there was
const listeners = new Set<() => void>();
const watchers = new Set<(events: Event[]) => void>();

function tell(): void {
  for (const l of listeners) l();
}

function setLine(next: Line): void {
  if (line !== next) {
    line = next;
    tell();
  }
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function useLine(): Line {
  return useSyncExternalStore(subscribe, () => line);
}

// useRecent gives the latest events, oldest first. The array is replaced when
// there are new ones.
export function useRecent(): Event[] {
  return useSyncExternalStore(subscribe, () => recent);
}

// useKnownSince gives the time before which events may be missing from those.
export function useKnownSince(): number {
  return useSyncExternalStore(subscribe, () => since);
}

// onEvents is told of events as they come, in one call for those that come
// together.
export function onEvents(watcher: (events: Event[]) => void): () => void {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
}

// backfill puts events from the log before those that have come since. If the
// log was asked for more than it gave, there is nothing older.
export function backfill(events: Event[], all: boolean): void {
  const first = recent[0]?.seq ?? Infinity;
  since = all ? 0 : Date.parse(events[0]?.at ?? "");
  set([...events.filter((e) => e.seq < first), ...recent]);
}

function set(events: Event[]): void {
  recent = events.slice(-maxKept);
  if (recent.length < events.length) since = Date.parse(recent[0]!.at);
  tell();
}

function take(events: Event[]): void {
  const last = recent.at(-1)?.seq ?? 0;
  const fresh = events.filter((e) => e.seq > last);
  for (const w of watchers) w(events);
  set([...recent, ...fresh]);
}

// follow keeps a stream open until it is told to stop.
export function follow(as: Session, client: QueryClient): () => void {
  const end = new AbortController();
  recent = [];
  since = Infinity;
  void run(as, client, end.signal);
  return () => end.abort();
}

async function run(as: Session, client: QueryClient, end: AbortSignal): Promise<void> {
  let after = "";
  let pause = 250;
  // What was read before the stream stood may have changed in between.
  let wasAway = true;
  setLine("connecting");
  while (!end.aborted) {
    const attempt = new AbortController();
    const stop = () => attempt.abort();
    end.addEventListener("abort", stop);
    let watchdog = setTimeout(stop, silence);
    try {
      const answer = await fetch("/api/events", {
        headers: { ...headers(as), Accept: "text/event-stream", ...(after ? { "Last-Event-ID": after } : {}) },
        credentials: "omit",
        signal: attempt.signal,
      });
      if (answer.status === 401) {
        setSession(null, true);
        return;
      }
      if (answer.ok && answer.body) {
        const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
        let rest = "";
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          clearTimeout(watchdog);
          watchdog = setTimeout(stop, silence);
          const blocks = (rest + value).split("\n\n");
          rest = blocks.pop() ?? "";
          const events: Event[] = [];
          for (const block of blocks) {
            const entry = parse(block);
            if (entry.retry) pause = entry.retry;
            if (entry.id) after = entry.id;
            if (entry.name === "resume" || entry.name === "reset") {
              // Who comes and goes without a word is not in the log.
              if (entry.name === "reset" || wasAway) void client.invalidateQueries();
              pause = 250;
              wasAway = false;
              setLine("live");
            } else if (entry.data) {
              events.push(JSON.parse(entry.data) as Event);
            }
          }
          if (events.length > 0) take(events);
        }
      }
    } catch {
      // It is away; the loop tries again.
    }
    clearTimeout(watchdog);
    end.removeEventListener("abort", stop);
    if (end.aborted) return;
    wasAway = true;
    setLine("away");
    await new Promise((resolve) => setTimeout(resolve, pause * (0.75 + Math.random() / 2)));
    pause = Math.min(pause * 2, 4000);
  }
}
