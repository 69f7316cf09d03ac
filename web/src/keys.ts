import { useEffect, useRef } from "react";

// Shortcuts are single keys, or two in a row such as "g q". They are asleep
// while somebody writes.
export type Shortcuts = Record<string, () => void>;

const together = 1200; // ms between the two keys of a pair
const known = new Set<{ current: Shortcuts }>();
let first = "";
let firstAt = 0;

function writing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || ["INPUT", "TEXTAREA", "SELECT"].includes(target.tagName));
}

// One listener for all, so that a pair is the same for everybody.
window.addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || e.defaultPrevented) return;
  if (writing(e.target) && e.key !== "Escape") return;
  // A button or a link that has the focus has Enter for itself.
  if (e.key === "Enter" && e.target instanceof HTMLElement && e.target.closest("button, a, summary")) return;
  const name = first && performance.now() - firstAt < together ? `${first} ${e.key}` : e.key;
  first = "";
  if (name === "g") {
    first = "g";
    firstAt = performance.now();
    return;
  }
  for (const shortcuts of [...known].reverse()) {
    const run = shortcuts.current[name];
    if (run) {
      run();
      // Escape is also the browser's own, to close what is open.
      if (name === "Escape") continue;
      e.preventDefault();
      return;
    }
  }
});

export function useShortcuts(shortcuts: Shortcuts): void {
  const latest = useRef(shortcuts);
  latest.current = shortcuts;
  useEffect(() => {
    known.add(latest);
    return () => void known.delete(latest);
  }, []);
}
