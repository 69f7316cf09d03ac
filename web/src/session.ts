import { useSyncExternalStore } from "react";
import { forgetKept } from "./kept";
import type { Role } from "@c3po-dev/client";

// Who looks at the page. The token stays in this browser until it ends or the
// person signs out; it is sent as a header and never as a cookie, so no other
// page can use it.
export interface Session {
  token: string; // empty where the coordinator asks for none
  role: Role;
  space: string; // empty is the token's own
  spaces?: string[]; // what the token is for, if that is known
}

const key = "c3po.session";
let current = read();
const listeners = new Set<() => void>();

function read(): Session | null {
  try {
    const kept = JSON.parse(localStorage.getItem(key) ?? "null") as Session | null;
    return kept && typeof kept.token === "string" ? kept : null;
  } catch {
    return null;
  }
}

export function session(): Session | null {
  return current;
}

// ended says that the last session was not ended by the person.
export let ended = false;

export function setSession(next: Session | null, byCoordinator = false): void {
  ended = byCoordinator;
  if (next === null && !byCoordinator) forgetKept();
  current = next;
  if (next) localStorage.setItem(key, JSON.stringify(next));
  else localStorage.removeItem(key);
  for (const tell of listeners) tell();
}

export function useSession(): Session | null {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => current,
  );
}

// The role is in the text of a token, for people; what it is worth is decided by
// the coordinator.
export function roleOf(token: string): Role | null {
  const found = /^c3po_(agent|runner|observer|human|admin)_[a-z2-7]{12}_/.exec(token);
  return found ? (found[1] as Role) : null;
}

export function mayAct(s: Session | null): boolean {
  return s?.role === "human" || s?.role === "admin";
}

const visitedKey = "c3po.spaces";
const maxVisited = 20;

// spacesToPick are those of the token and those that were opened in this browser.
export function spacesToPick(s: Session | null): string[] {
  return [...new Set(["main", ...(s?.spaces ?? []).filter((name) => name !== "*"), ...visited()])];
}

function visited(): string[] {
  try {
    const all: unknown = JSON.parse(localStorage.getItem(visitedKey) ?? "[]");
    return Array.isArray(all) ? all.filter((name): name is string => typeof name === "string") : [];
  } catch {
    return [];
  }
}

export function visit(s: Session, space: string): void {
  if (space) localStorage.setItem(visitedKey, JSON.stringify([...new Set([space, ...visited()])].slice(0, maxVisited)));
  setSession({ ...s, space });
}
