import { useCallback, useMemo, useRef } from "react";
import { useConversations } from "../conversations";
import { useNow } from "../data";
import { useKept } from "../kept";
import { useShortcuts } from "../keys";
import { List, useList } from "../list";
import { subject } from "../markdown";
import { ago, moment, plain } from "../plain";
import { go, to } from "../route";
import { Empty, Head, Trouble, Who } from "../ui";
import type { Conversation } from "@c3po-dev/client";
import "./Conversations.css";

const rowHeight = 66;

const states: Record<string, string> = {
  pending: "unread",
  delivered: "read, no answer yet",
  responded: "answered",
  timed_out: "too late",
  cancelled: "withdrawn",
};

const nameOf = (c: Conversation) => c.thread;

export function Conversations() {
  const now = useNow();
  const [open, setOpen] = useKept("open conversations", false);
  const [wanted, setWanted] = useKept("search conversations", "");
  const box = useRef<HTMLInputElement>(null);
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useConversations(open);
  const shown = useMemo(() => {
    const words = wanted.trim().toLowerCase();
    const seen = new Set<string>();
    return (data?.pages ?? [])
      .flatMap((p) => p.rows)
      .filter((t) => {
        if (seen.has(t.thread)) return false;
        seen.add(t.thread);
        return words === "" || [t.subject, t.last, t.from_agent, t.to_agent, t.thread].some((text) => text?.toLowerCase().includes(words));
      })
      .sort((a, b) => Date.parse(b.last_at) - Date.parse(a.last_at));
  }, [data, wanted]);
  const list = useList({
    name: "conversations",
    rows: shown,
    id: nameOf,
    height: rowHeight,
    onOpen: (t) => go("conversations", nameOf(t)),
    more: { has: hasNextPage, busy: isFetchingNextPage, read: fetchNextPage },
  });
  const draw = useCallback((c: Conversation) => <Row of={c} now={now} />, [now]);
  useShortcuts({ "/": () => box.current?.focus() });
  return (
    <section className="page fill view-conversations">
      <Head title="Conversations" />
      <div className="row filter">
        <input
          ref={box}
          type="search"
          placeholder="Search names and lines  /"
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
      {!isPending && shown.length === 0 && <NoConversations searched={wanted !== "" || open} />}
      <List list={list} label="Conversations" draw={draw} />
    </section>
  );
}

function Row({ of: c, now }: { of: Conversation; now: number }) {
  return (
    <div className="bare">
      <span className="talk">
        <a className="subject stretched" dir="auto" href={to("conversations", nameOf(c))}>
          {plain(subject(c.subject ?? "") || "The text was trimmed")}
        </a>
        <span className="quiet one">
          <Who id={c.from_agent} /> → <Who id={c.to_agent} />
          {c.last && (
            <>
              {" · "}
              <bdi>{plain(c.last_from ?? "")}</bdi>: <bdi>{plain(subject(c.last))}</bdi>
            </>
          )}
        </span>
      </span>
      <span className="quiet turns">{c.turns}</span>
      <span className={`badge ${/^[a-z_]+$/.test(c.state) ? c.state : ""}`}>
        {c.state === "timed_out" && c.to_agent === "human" ? "overdue" : (states[c.state] ?? plain(c.state))}
      </span>
      <time className="quiet" title={moment(c.last_at)}>
        {ago(c.last_at, now)}
      </time>
    </div>
  );
}

function NoConversations({ searched }: { searched: boolean }) {
  if (searched) return <Empty title="No conversation matches">Clear the search, or choose All.</Empty>;
  return (
    <Empty title="No conversations" command={'c3po send NAME "Which fields does GET /orders answer with?"'}>
      When one agent asks another, it is here. Ask one yourself:
    </Empty>
  );
}
