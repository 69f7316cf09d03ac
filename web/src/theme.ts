import { useSyncExternalStore } from "react";

type Theme = "auto" | "light" | "dark";
const order: Theme[] = ["auto", "light", "dark"];
const key = "c3po.theme";
const listeners = new Set<() => void>();
let theme = (localStorage.getItem(key) as Theme | null) ?? "auto";
show();

function show(): void {
  document.documentElement.dataset["theme"] = theme;
}

export function nextTheme(): void {
  theme = order[(order.indexOf(theme) + 1) % order.length]!;
  localStorage.setItem(key, theme);
  show();
  for (const tell of listeners) tell();
}

export function useTheme(): Theme {
  return useSyncExternalStore(
    (tell) => {
      listeners.add(tell);
      return () => listeners.delete(tell);
    },
    () => theme,
  );
}
