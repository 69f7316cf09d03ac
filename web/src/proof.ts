import { useSyncExternalStore } from "react";

// An act that the coordinator carries out only after the person has confirmed it with a
// passkey. One at a time is shown; the others wait for it.
export interface Asked {
  id: string;
  done: () => void;
  refuse: (why: Error) => void;
}

let asked: Asked[] = [];
const listeners = new Set<() => void>();

function set(next: Asked[]): void {
  asked = next;
  for (const tell of listeners) tell();
}

export function useAsked(): Asked | undefined {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => asked[0],
  );
}

// confirmed ends when the person has signed the act, and fails when they will not.
export function confirmed(id: string): Promise<void> {
  return new Promise<void>((done, refuse) => set([...asked, { id, done, refuse }])).finally(() => set(asked.filter((one) => one.id !== id)));
}
