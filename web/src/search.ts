import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "./api";
import type { SearchHit } from "@c3po-dev/client";

const typing = 250; // ms without a key before messages are searched
const minRunes = 3;
const wanted = 20;
const maxCalls = 10; // one call searches for a fifth of a second at the most

export interface Searched {
  hits: SearchHit[];
  all: boolean; // everything was searched, or there are more hits than are shown
}

export async function search(words: string): Promise<Searched> {
  const hits: SearchHit[] = [];
  let cursor = "";
  for (let calls = 0; calls < maxCalls; calls++) {
    const page = await call("search", { words, cursor, limit: wanted });
    hits.push(...page.rows);
    cursor = page.next;
    if (!cursor || hits.length >= wanted) return { hits: hits.slice(0, wanted), all: true };
  }
  return { hits, all: false };
}

// useSearch finds messages by their words, when a person has stopped typing.
export function useSearch(typed: string) {
  const [words, setWords] = useState("");
  useEffect(() => {
    const timer = setTimeout(() => setWords(typed.trim()), typing);
    return () => clearTimeout(timer);
  }, [typed]);
  const enough = words.length >= minRunes;
  const query = useQuery({ queryKey: ["search", words], queryFn: () => search(words), enabled: enough, staleTime: 10_000, placeholderData: keepPreviousData });
  return { data: enough ? query.data : undefined, busy: typed.trim().length >= minRunes && (words !== typed.trim() || query.isFetching) };
}
