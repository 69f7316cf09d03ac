import { useCallback, useState } from "react";

// useSeen says that an element has been on the screen; it is given to the element as ref.
export function useSeen(): [boolean, (element: HTMLElement | null) => (() => void) | undefined] {
  const [seen, setSeen] = useState(false);
  const watch = useCallback((element: HTMLElement | null) => {
    if (!element) return undefined;
    const observer = new IntersectionObserver((entries) => {
      if (!entries.some((entry) => entry.isIntersecting)) return;
      setSeen(true);
      observer.disconnect();
    });
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
  return [seen, watch];
}
