import { useSyncExternalStore } from "react";
import { forgetKept } from "./kept";
import type { Role } from "./wire";

// Who looks at the page. The token stays in this browser until it ends or the
// person signs out; it is sent as a header and never as a cookie, so no other
// page can use it.
export interface Session {
  token: string; // empty where the coordinator asks for none
  role: Role;
  space: string; // empty is the token's own
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
