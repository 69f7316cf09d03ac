import { useEffect, useRef } from "react";

// Shortcuts are single keys, or two in a row such as "g q". They are asleep
// while somebody writes.
export type Shortcuts = Record<string, () => void>;

const together = 1200; // ms between the two keys of a pair
let first = "";
let firstAt = 0;

function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    const pressed = (e: KeyboardEvent) => {
      if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
      if (writing(e.target) && e.key !== "Escape") return;
      const pair = performance.now() - firstAt < together ? `${first} ${e.key}` : "";
      const run = latest.current[pair] ?? (first && pair && performance.now() - firstAt < together && first === "g" ? undefined : latest.current[e.key]);
      if (run) {
        e.preventDefault();
        run();
      }
    };
    window.addEventListener("keydown", pressed);
    return () => window.removeEventListener("keydown", pressed);
  }, []);
}

// The first key of a pair is remembered once for all who listen, after they
// have looked.
window.addEventListener("keydown", (e) => {
  queueMicrotask(() => {
    const began = e.key === "g" && first !== "g" && !writing(e.target);
    first = began ? "g" : "";
    firstAt = began ? performance.now() : 0;
  });
});
