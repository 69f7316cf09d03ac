import type { QueryClient } from "@tanstack/react-query";
import { useSyncExternalStore } from "react";
import { C3poError, type Event, follow as followEvents } from "@c3po-dev/client";
import { connect } from "./api";
import { type Session, setSession } from "./session";

// The stream of what happens. It goes on after the last event it had, also at another
// coordinator, and begins anew only when the log no longer holds that place.

export type Line = "connecting" | "live" | "away";

const maxKept = 5000;
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

// refusedPause is how long nothing is asked after the coordinator refused the stream.
const refusedPause = 4000;

async function run(as: Session, client: QueryClient, end: AbortSignal): Promise<void> {
  let after = "";
  // What was read before the stream stood may have changed in between.
  let wasAway = true;
  const onLost = () => {
    wasAway = true;
    setLine("away");
  };
  setLine("connecting");
  while (!end.aborted) {
    try {
      for await (const came of followEvents(connect(as), { after, signal: end, onLost })) {
        const events: Event[] = [];
        for (const { at, start, event } of came) {
          after = at;
          if (event) events.push(event);
          if (!start) continue;
          // Who comes and goes without a word is not in the log.
          if (!start.recovered || wasAway) void client.invalidateQueries();
          wasAway = false;
          setLine("live");
        }
        if (events.length > 0) take(events);
      }
    } catch (err) {
      if (end.aborted) return;
      if (err instanceof C3poError && err.status === 401) return setSession(null, true);
      onLost();
      await new Promise((resolve) => setTimeout(resolve, refusedPause));
    }
  }
}
