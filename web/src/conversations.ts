import { type InfiniteData, type QueryClient, useInfiniteQuery } from "@tanstack/react-query";
import { call, type Page } from "./api";
import type { Conversation } from "@c3po-dev/client";

type Pages = InfiniteData<Page<Conversation>, string>;

const pageSize = 100;
const news = 5; // conversations that are read again after an event
const wholeEvery = 10_000; // ms for each page that was loaded, after which all of it is read again if anything happened

const read = (open: boolean, cursor: string, limit: number) => call("conversations", { ...(open ? { state: "open" } : {}), cursor, limit });

export function useConversations(open: boolean) {
  return useInfiniteQuery({
    queryKey: ["conversations", open],
    queryFn: ({ pageParam }) => read(open, pageParam, pageSize),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
    maxPages: 200,
  });
}

// merged puts what was just read before what was there, each conversation once.
export function merged(fresh: Conversation[], before: Conversation[]): Conversation[] {
  const known = new Set(fresh.map((c) => c.thread));
  return [...fresh, ...before.filter((c) => !known.has(c.thread))];
}

// refreshConversations reads the newest conversations of the list on the screen, and
// all that was loaded of it only now and then: an old question may have been answered.
export async function refreshConversations(client: QueryClient): Promise<void> {
  for (const query of client.getQueryCache().findAll({ queryKey: ["conversations"], type: "active" })) {
    const data = query.state.data as Pages | undefined;
    if (!data) continue;
    if (Date.now() - wholeAt(query.queryHash) > wholeEvery * data.pages.length) {
      whole.set(query.queryHash, Date.now());
      void client.invalidateQueries({ queryKey: query.queryKey, exact: true });
      continue;
    }
    const fresh = await read(query.queryKey[1] as boolean, "", news).catch(() => undefined);
    if (!fresh) continue;
    client.setQueryData<Pages>(query.queryKey, (data) => {
      const [first, ...rest] = data?.pages ?? [];
      return data && first ? { ...data, pages: [{ ...first, rows: merged(fresh.rows, first.rows) }, ...rest] } : data;
    });
  }
}

const whole = new Map<string, number>(); // when each list was last read as a whole

function wholeAt(list: string): number {
  const at = whole.get(list) ?? Date.now();
  whole.set(list, at);
  return at;
}
