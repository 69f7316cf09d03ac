import { type InfiniteData, type QueryClient, useInfiniteQuery } from "@tanstack/react-query";
import { useEffect, useMemo } from "react";
import { call, type Page } from "./api";
import { ends } from "./mail";
import type { Event, Message } from "@c3po-dev/client";

type Pages = InfiniteData<Page<Message>, string>;

const page = 100;
const maxPages = 50;
const maxAsked = 8; // messages asked for their thread one by one; for more the end is read at once

const read = (thread: string, cursor: string) => call("get_thread", { thread, cursor, limit: page });

export function useThread(thread: string) {
  const query = useInfiniteQuery({
    queryKey: ["thread", thread],
    queryFn: ({ pageParam }) => read(thread, pageParam),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
  });
  const { data, hasNextPage, isFetching, fetchNextPage } = query;
  useEffect(() => {
    if (hasNextPage && !isFetching && (data?.pages.length ?? 0) < maxPages) void fetchNextPage();
  }, [data, hasNextPage, isFetching, fetchNextPage]);
  const messages = useMemo(() => data?.pages.flatMap((p) => p.rows) ?? [], [data]);
  return { ...query, messages };
}

// candidates are the messages among events that may be news to a conversation:
// it does not have them, and a side of them has a part in it. An event does not
// know its thread.
export function candidates(events: Event[], messages: Message[]): string[] {
  const known = new Set(messages.map((m) => m.id));
  const parts = new Set(messages.flatMap((m) => [m.from_agent, m.to_agent]));
  const found = new Set<string>();
  for (const e of events) {
    if (!e.message_id || known.has(e.message_id) || (e.kind !== "accepted" && e.kind !== "answered")) continue;
    const { from, to } = ends(e.message_id);
    if (parts.has(from) || parts.has(to)) found.add(e.message_id);
  }
  return [...found];
}

// refreshThreads reads on in the conversations on the screen that events have
// added to, and nothing of the others.
export function refreshThreads(client: QueryClient, events: Event[]): void {
  for (const query of client.getQueryCache().findAll({ queryKey: ["thread"], type: "active" })) {
    const data = query.state.data as Pages | undefined;
    const thread = query.queryKey[1] as string;
    if (!data) continue;
    const messages = data.pages.flatMap((p) => p.rows);
    void readOn(client, thread, messages[0]?.thread || thread, candidates(events, messages));
  }
}

async function readOn(client: QueryClient, key: string, thread: string, news: string[]): Promise<void> {
  if (news.length === 0) return;
  if (news.length <= maxAsked) {
    const traces = await Promise.all(news.map((id) => call("trace", { message_id: id }).catch(() => undefined)));
    if (!traces.some((t) => t?.thread === thread)) return;
  }
  await readEnd(client, key);
}

// readEnd reads the last page again; if it has grown beyond its end, useThread
// reads what follows.
export async function readEnd(client: QueryClient, thread: string): Promise<void> {
  const before = client.getQueryData<Pages>(["thread", thread]);
  const cursor = before?.pageParams.at(-1);
  if (cursor === undefined) return;
  const end = await read(thread, cursor).catch(() => undefined);
  if (!end) return; // the stream is away too, and reads everything when it is back
  client.setQueryData<Pages>(["thread", thread], (data) =>
    data && data.pageParams.at(-1) === cursor ? { ...data, pages: [...data.pages.slice(0, -1), end] } : data,
  );
}
