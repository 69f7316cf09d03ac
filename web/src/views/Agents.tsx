import { useDeferredValue, useMemo, useRef, useState } from "react";
import { act as actAsPerson, clientKey } from "../api";
import { useAgents, useNow } from "../data";
import { useKept } from "../kept";
import { useShortcuts } from "../keys";
import { List, useList } from "../list";
import { ago, moment, plain, reach, reachWhy, standing } from "../plain";
import { go, to } from "../route";
import { mayAct, useSession } from "../session";
import { Compose, Dialog, Empty, Head, Id, Reach, say, sayError, Trouble } from "../ui";
import type { SeenAgent } from "../mail";
import "./Agents.css";
import { PauseAll, usePause } from "./pause";

const rowHeight = 56;

export function Agents({ chosen }: { chosen: string | undefined }) {
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
    id: (a) => a.id,
    height: rowHeight,
    onOpen: (a) => go("agents", a.id),
    more: { has: hasNextPage, busy: isFetchingNextPage, read: fetchNextPage },
  });
  const pause = usePause();
  const { current } = list;
  useShortcuts({
    "/": () => box.current?.focus(),
    w: () => current && go("agents", current.id),
    p: () => act && current && void pause(current.id, current.paused === null),
    Escape: () => go("agents"),
  });
  const open = chosen ? agents.find((a) => a.id === chosen) : undefined;
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
          <option value="unread">With unread mail</option>
          <option value="paused">Paused or waiting</option>
        </select>
      </div>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {!isPending && shown.length === 0 && (
        <Empty title={agents.length === 0 ? "No agents yet" : "No agent matches"}>
          {agents.length === 0 ? "An agent is here after its first call." : undefined}
        </Empty>
      )}
      <List list={list} label="Agents">
        {(a) => (
          <a href={to("agents", a.id)}>
            <span className={`dot ${a.status}`} title={a.status} />
            <span className="who">
              <Id>{a.id}</Id>
              <span className="quiet one">{plain(a.current_task || a.cwd || a.type || "")}</span>
            </span>
            {(a.unread ?? 0) > 0 && <span className="badge">{a.unread} unread</span>}
            <Reach agent={a} />
            <time className="quiet wide" title={`seen ${moment(a.last_seen)}`}>
              {standing(a, now)}
            </time>
          </a>
        )}
      </List>
      {open && <AgentSheet agent={open} act={act} onClose={() => go("agents")} />}
    </section>
  );
}

function AgentSheet({ agent: a, act, onClose }: { agent: SeenAgent; act: boolean; onClose: () => void }) {
  const now = useNow();
  const pause = usePause();
  const [busy, setBusy] = useState(false);
  const key = useRef(clientKey());
  const write = async (text: string) => {
    setBusy(true);
    try {
      const receipt = await actAsPerson<{ id: string; thread?: string; reachability: string }>("send_message", {
        target: a.id,
        message: text,
        client_key: key.current,
      });
      key.current = clientKey();
      say(`Sent to ${a.id}: ${reach(receipt.reachability)}`);
      go("conversations", receipt.thread || receipt.id);
      return true;
    } catch (err) {
      sayError(err);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const facts: [string, string][] = [
    ["State", `${standing(a, now)}, ${a.availability}`],
    ["Task", a.current_task ?? ""],
    ["Paused", a.reachability === "waiting_for_human" ? "" : (a.paused ?? "")], // of which the first line speaks
    ["Unread", a.unread === undefined ? "" : String(a.unread)],
    ["Kind", a.type ?? ""],
    ["Host", a.host ?? ""],
    ["Folder", a.cwd ?? ""],
    ["Can", a.capabilities.join(", ")],
    ["Rooms", a.rooms.join(", ")],
    ["Client", a.client ?? ""],
    ["Process", a.alive === null ? "" : a.alive ? "alive" : "gone"],
    ["Seen", `${ago(a.last_seen, now)} (${moment(a.last_seen)})`],
    ["Registered", moment(a.registered_at)],
  ];
  return (
    <Dialog title={plain(a.id)} onClose={onClose}>
      <p className="why">
        <Reach agent={a} /> {reachWhy(a.reachability)}
      </p>
      <dl className="facts">
        {facts
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi>{plain(value)}</bdi>
              </dd>
            </div>
          ))}
      </dl>
      {act && (
        <>
          <Compose label={`Write to ${plain(a.id)}`} button="Send" draft={`to ${a.id}`} busy={busy} onSend={write} autoFocus />
          <div className="row acts">
            {a.paused === null ? (
              <button onClick={() => void pause(a.id, true)}>Pause</button>
            ) : (
              <button onClick={() => void pause(a.id, false)}>Resume</button>
            )}
          </div>
        </>
      )}
    </Dialog>
  );
}
