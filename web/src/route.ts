import { useSyncExternalStore } from "react";

// Routes are behind the # of the address: the paths belong to the API.
export function useRoute(): string[] {
  const hash = useSyncExternalStore(
    (tell) => {
      window.addEventListener("hashchange", tell);
      return () => window.removeEventListener("hashchange", tell);
    },
    () => window.location.hash,
  );
  return parts(hash);
}

export function parts(hash: string): string[] {
  return hash
    .replace(/^#\/?/, "")
    .split("/")
    .filter((part) => part !== "")
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    });
}

export function to(...route: string[]): string {
  return "#/" + route.map(encodeURIComponent).join("/");
}

export function go(...route: string[]): void {
  window.location.hash = to(...route);
}
