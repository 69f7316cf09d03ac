import { useCallback, useState } from "react";

// What a person has typed or chosen outlives the view it was typed in, and a
// reload. It ends with the tab, or when they sign out.
const prefix = "c3po.kept.";

function read<Value>(name: string, initial: Value): Value {
  try {
    const text = sessionStorage.getItem(prefix + name);
    return text === null ? initial : (JSON.parse(text) as Value);
  } catch {
    return initial;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    if (value === "" || value === null) sessionStorage.removeItem(prefix + name);
    else sessionStorage.setItem(prefix + name, JSON.stringify(value));
  } catch {
    // A full or forbidden storage keeps nothing; the page works without.
  }
}

export function kept(name: string): string {
  return read(name, "");
}

export function useKept<Value>(name: string, initial: Value): [Value, (next: Value) => void] {
  const [value, setValue] = useState(() => read(name, initial));
  const set = useCallback(
    (next: Value) => {
      setValue(next);
      keep(name, next);
    },
    [name],
  );
  return [value, set];
}

export function forgetKept(): void {
  for (const name of Object.keys(sessionStorage)) if (name.startsWith(prefix)) sessionStorage.removeItem(name);
}
