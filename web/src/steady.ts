import { useEffect, useState } from "react";

const settling = 800; // ms in which nobody has seen yet that a list has moved

// useSteady says whether a list has stayed as it is long enough for a click or a key to
// be meant for what is under it. The first list is steady; ids is undefined before it.
export function useSteady(ids: string[] | undefined): boolean {
  const shown = ids?.join("\n");
  const [last, setLast] = useState({ shown, steady: true });
  // While rendering, so that the moved list is never on the screen as a steady one.
  if (shown !== undefined && shown !== last.shown) setLast({ shown, steady: last.shown === undefined });
  useEffect(() => {
    if (last.steady) return;
    const timer = setTimeout(() => setLast({ ...last, steady: true }), settling);
    return () => clearTimeout(timer);
  }, [last]);
  return last.steady;
}
