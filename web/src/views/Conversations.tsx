import { useInfiniteQuery } from "@tanstack/react-query";
import { useMemo, useRef } from "react";
import { list as read } from "../api";
import { useNow } from "../data";
import { useKept } from "../kept";
import { useShortcuts } from "../keys";
import { List, useList } from "../list";
import { ago, moment } from "../plain";
import { go, to } from "../route";
import { Empty, Head, Id, Trouble } from "../ui";
import type { Ticket } from "../wire";

const rowHeight = 52;

const states: Record<string, string> = {
  pending: "unread",
  delivered: "read, no answer yet",
  responded: "answered",
  timed_out: "too late",
  cancelled: "withdrawn",
};

const nameOf = (t: Ticket) => t.thread || t.id;

export function Conversations() {
  const now = useNow();
  const [open, setOpen] = useKept("open conversations", false);
  const [wanted, setWanted] = useKept("search conversations", "");
  const box = useRef<HTMLInputElement>(null);
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["tickets", open],
    queryFn: ({ pageParam }) => read<Ticket>("tickets", { which: "all", ...(open ? { state: "open" } : {}), cursor: pageParam, limit: 100 }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
    maxPages: 200,
  });
  const shown = useMemo(() => {
    const words = wanted.trim().toLowerCase();
    const seen = new Set<string>();
    return (data?.pages ?? [])
      .flatMap((p) => p.rows)
      .filter((t) => {
        if (seen.has(t.thread)) return false;
        seen.add(t.thread);
        return words === "" || [t.from_agent, t.to_agent, t.thread].some((text) => text.toLowerCase().includes(words));
      });
  }, [data, wanted]);
  const list = useList({
    name: "conversations",
    rows: shown,
    id: nameOf,
    height: rowHeight,
    onOpen: (t) => go("conversations", nameOf(t)),
    more: { has: hasNextPage, busy: isFetchingNextPage, read: fetchNextPage },
  });
  useShortcuts({ "/": () => box.current?.focus() });
  return (
    <section className="page fill">
      <Head title="Conversations" />
      <div className="row filter">
        <input
          ref={box}
          type="search"
          placeholder="Search  /"
          aria-label="Search conversations"
          value={wanted}
          onChange={(e) => setWanted(e.target.value)}
          onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
        />
        <select aria-label="Which conversations" value={open ? "open" : "all"} onChange={(e) => setOpen(e.target.value === "open")}>
          <option value="all">All</option>
          <option value="open">Without an answer yet</option>
        </select>
      </div>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {!isPending && shown.length === 0 && <Empty title="No conversations">When one agent asks another, it is here.</Empty>}
      <List list={list} label="Conversations">
        {(t) => (
          <a href={to("conversations", nameOf(t))}>
            <span className="pair">
              <Id>{t.from_agent}</Id>
              <span className="quiet" aria-label="to">
                {" "}
                →{" "}
              </span>
              <Id>{t.to_agent}</Id>
            </span>
            <span className={`badge ${/^[a-z_]+$/.test(t.state) ? t.state : ""}`}>{states[t.state] ?? t.state}</span>
            <time className="quiet" title={moment(t.created_at)}>
              {ago(t.created_at, now)}
            </time>
          </a>
        )}
      </List>
    </section>
  );
}
