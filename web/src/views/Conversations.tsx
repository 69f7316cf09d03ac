import { useInfiniteQuery } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useMemo, useRef, useState } from "react";
import { list } from "../api";
import { useNow } from "../data";
import { useShortcuts } from "../keys";
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

export function Conversations() {
  const now = useNow();
  const [open, setOpen] = useState(false);
  const [wanted, setWanted] = useState("");
  const [at, setAt] = useState(0);
  const box = useRef<HTMLInputElement>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["tickets", open],
    queryFn: ({ pageParam }) => list<Ticket>("tickets", { which: "all", ...(open ? { state: "open" } : {}), cursor: pageParam, limit: 100 }),
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
  const rows = useVirtualizer({ count: shown.length, getScrollElement: () => scroller.current, estimateSize: () => rowHeight, overscan: 8 });
  const last = rows.getVirtualItems().at(-1)?.index ?? 0;
  useEffect(() => {
    if (last > shown.length - 30 && hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [last, shown.length, hasNextPage, isFetchingNextPage, fetchNextPage]);
  const move = (by: number) => {
    const next = Math.max(0, Math.min(shown.length - 1, at + by));
    setAt(next);
    rows.scrollToIndex(next);
  };
  const current = shown[at];
  useShortcuts({
    "/": () => box.current?.focus(),
    j: () => move(1),
    k: () => move(-1),
    Enter: () => current && go("conversations", current.thread || current.id),
  });
  return (
    <section className="page fill">
      <Head title="Conversations" />
      <div className="row filter">
        <input ref={box} type="search" placeholder="Search  /" aria-label="Search conversations" value={wanted} onChange={(e) => setWanted(e.target.value)} onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()} />
        <select aria-label="Which conversations" value={open ? "open" : "all"} onChange={(e) => setOpen(e.target.value === "open")}>
          <option value="all">All</option>
          <option value="open">Without an answer yet</option>
        </select>
      </div>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {!isPending && shown.length === 0 && <Empty title="No conversations">When one agent asks another, it is here.</Empty>}
      <div className="scroll" ref={scroller} tabIndex={0} role="list" aria-label="Conversations">
        <div className="tall" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const t = shown[row.index]!;
            return (
              <div key={t.thread || t.id} role="listitem" className={`item ${row.index === at ? "chosen" : ""}`} style={{ height: rowHeight, transform: `translateY(${row.start}px)` }}>
                <a href={to("conversations", t.thread || t.id)} onClick={() => setAt(row.index)}>
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
              </div>
            );
          })}
        </div>
      </div>
    </section>
  );
}
