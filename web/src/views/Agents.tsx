import { useCallback, useDeferredValue, useMemo, useRef } from "react";
import { useAgents, useNow } from "../data";
import { useKept } from "../kept";
import { useShortcuts } from "../keys";
import { List, useList } from "../list";
import type { SeenAgent } from "../mail";
import { moment, plain, standing } from "../plain";
import { go, to } from "../route";
import { mayAct, useSession } from "../session";
import { Empty, Head, Id, Reach, Trouble } from "../ui";
import "./Agents.css";
import { PauseAll, usePause } from "./pause";

const rowHeight = 56;

const idOf = (a: SeenAgent) => a.id;

export function Agents() {
  const { agents, error, isPending, hasNextPage, fetchNextPage, isFetchingNextPage } = useAgents();
  const act = mayAct(useSession());
  const now = useNow();
  const [search, setSearch] = useKept("search agents", "");
  const [only, setOnly] = useKept("which agents", "all");
  const wanted = useDeferredValue(search.trim().toLowerCase());
  const box = useRef<HTMLInputElement>(null);
  const shown = useMemo(
    () =>
      agents.filter(
        (a) =>
          (only === "all" ||
            (only === "online" && a.status === "online") ||
            (only === "unread" && (a.unread ?? 0) > 0) ||
            (only === "paused" && a.paused !== null)) &&
          (wanted === "" || [a.id, a.name, a.type, a.host, a.cwd, a.current_task, ...a.capabilities].some((t) => t?.toLowerCase().includes(wanted))),
      ),
    [agents, only, wanted],
  );
  const list = useList({
    name: "agents",
    rows: shown,
    id: idOf,
    height: rowHeight,
    onOpen: (a) => go("agents", a.id),
    more: { has: hasNextPage, busy: isFetchingNextPage, read: fetchNextPage },
  });
  const draw = useCallback((a: SeenAgent) => <Row of={a} now={now} />, [now]);
  const pause = usePause();
  const { current } = list;
  useShortcuts({
    "/": () => box.current?.focus(),
    w: () => current && go("agents", current.id),
    p: () => act && current && void pause(current.id, current.paused === null),
  });
  const online = useMemo(() => agents.filter((a) => a.status === "online").length, [agents]);

  return (
    <section className="page fill view-agents">
      <Head title="Agents">
        <span className="quiet">
          {online} online of {agents.length}
          {hasNextPage ? "+" : ""}
        </span>
        {act && <PauseAll />}
      </Head>
      <div className="row filter">
        <input
          ref={box}
          type="search"
          placeholder="Search  /"
          aria-label="Search agents"
          value={search}
          onChange={(e) => setSearch(e.target.value)}
          onKeyDown={(e) => e.key === "Escape" && e.currentTarget.blur()}
        />
        <select aria-label="Which agents" value={only} onChange={(e) => setOnly(e.target.value)}>
          <option value="all">All</option>
          <option value="online">Online</option>
          <option value="unread">With open mail</option>
          <option value="paused">Paused or waiting</option>
        </select>
      </div>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {!isPending && shown.length === 0 && (
        <Empty title={agents.length === 0 ? "No agents yet" : "No agent matches"} {...(agents.length === 0 ? { command: "c3po claude" } : {})}>
          {agents.length === 0 ? "An agent is here after its first call. Start one in the folder of a project:" : "Clear the search, or choose All."}
        </Empty>
      )}
      <List list={list} label="Agents" draw={draw} />
    </section>
  );
}

function Row({ of: a, now }: { of: SeenAgent; now: number }) {
  return (
    <a href={to("agents", a.id)}>
      <span className={`dot ${a.status}`} title={a.status} />
      <span className="who">
        <Id>{a.id}</Id>
        <span className="quiet one">{plain(a.current_task || a.cwd || a.type || "")}</span>
      </span>
      {(a.unread ?? 0) > 0 && <span className="badge">{a.unread} open</span>}
      <Reach agent={a} />
      <time className="quiet wide" title={`seen ${moment(a.last_seen)}`}>
        {standing(a, now)}
      </time>
    </a>
  );
}
