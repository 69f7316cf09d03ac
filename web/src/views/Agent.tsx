import { type ReactNode, useRef, useState } from "react";
import { act as actAsPerson, clientKey } from "../api";
import { useAgent, useNow, useRecentMail, useStuck } from "../data";
import { useShortcuts } from "../keys";
import { textOf, type SeenAgent } from "../mail";
import { subject } from "../markdown";
import { countdown, talks, waitsOf, waitWords } from "../needs";
import { age, ago, evidence, moment, plain, reach, reachWhy, standing } from "../plain";
import { go, to } from "../route";
import { mayAct, useSession } from "../session";
import { Compose, Empty, Head, InOrder, Reach, say, sayError, Trouble, Who } from "../ui";
import type { Wait } from "@c3po-dev/client";
import "./Agent.css";
import { usePause } from "./pause";

const shownTalks = 12;

// Agent is what is known of one agent: what it does, whom it waits for, and
// what it said last.
export function Agent({ id }: { id: string }) {
  const { data: a, error } = useAgent(id);
  const act = mayAct(useSession());
  const pause = usePause();
  const box = useRef<HTMLDivElement>(null);
  useShortcuts({
    w: () => box.current?.querySelector("textarea")?.focus(),
    p: () => act && a && void pause(a.id, a.paused === null),
    Escape: () => go("agents"),
  });
  return (
    <section className="page view-agent">
      <Head title={plain(id)}>
        {act && a && <button onClick={() => void pause(a.id, a.paused === null)}>{a.paused === null ? "Pause" : "Resume"}</button>}
        <a href={to("agents")}>All agents</a>
      </Head>
      {error && !a && <Trouble err={error} />}
      {!a && !error && <p className="quiet">Loading …</p>}
      {a && (
        <>
          <State agent={a} />
          {act && (
            <div ref={box}>
              <Write to={a.id} />
            </div>
          )}
          <div className="columns">
            <div>
              <Waits agent={id} />
              <Talks agent={id} />
            </div>
            <Facts agent={a} />
          </div>
        </>
      )}
    </section>
  );
}

function State({ agent: a }: { agent: SeenAgent }) {
  const now = useNow();
  return (
    <div className="state">
      <p className="now">
        <span className={`dot ${a.status}`} />
        <strong>{standing(a, now)}</strong>
        {a.availability !== "available" && <span className="badge">{plain(a.availability)}</span>}
        {a.paused !== null && a.reachability !== "waiting_for_human" && <span className="badge wait">paused: {plain(a.paused)}</span>}
        {(a.unread ?? 0) > 0 && <span className="badge">{a.unread} open</span>}
      </p>
      {a.current_task && (
        <p className="task" dir="auto">
          {plain(a.current_task)}
        </p>
      )}
      <p className="why">
        <Reach agent={a} /> <span className="quiet">{reachWhy(a.reachability)}</span>
      </p>
      <p className="quiet how">{evidence(a, now)}</p>
    </div>
  );
}

function Write({ to: agent }: { to: string }) {
  const [busy, setBusy] = useState(false);
  const key = useRef(clientKey());
  const write = async (text: string) => {
    setBusy(true);
    try {
      const receipt = await actAsPerson("send_message", {
        target: agent,
        message: text,
        client_key: key.current,
      });
      key.current = clientKey();
      say(`Sent to ${plain(agent)}: ${reach(receipt.reachability)}`);
      go("conversations", receipt.thread || receipt.id);
      return true;
    } catch (err) {
      sayError(err);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return <Compose label={`Write to ${plain(agent)}`} button="Send" draft={`to ${agent}`} busy={busy} onSend={write} />;
}

function Waits({ agent }: { agent: string }) {
  const { data } = useStuck(true);
  const now = useNow();
  const waits = waitsOf(data, agent);
  const none = data && waits.out.length === 0 && waits.in.length === 0;
  return (
    <>
      <h2>Waits</h2>
      {none && <p className="quiet">It waits for nobody, and nobody waits for it.</p>}
      <ul className="plainlist waits">
        {waits.out.map((w) => (
          <WaitRow key={w.id} wait={w} now={now}>
            It waits for {w.to_agent === "human" ? "you" : <Who id={w.to_agent} />}
          </WaitRow>
        ))}
        {waits.in.map((w) => (
          <WaitRow key={w.id} wait={w} now={now}>
            <Who id={w.from_agent} /> waits for it
          </WaitRow>
        ))}
      </ul>
    </>
  );
}

function WaitRow({ wait: w, now, children }: { wait: Wait; now: number; children: ReactNode }) {
  const left = countdown(w.deadline, now);
  const how = waitWords(w);
  return (
    <li>
      <span className="whom">{children}</span>
      <span className="quiet">{[age((now - Date.parse(w.since)) / 1000), how].filter(Boolean).join(", ")}</span>
      {left && <span className={`badge ${left.urgency === "overdue" ? "bad" : left.urgency === "soon" ? "wait" : ""}`}>{left.text}</span>}
      {w.questions > 1 && <span className="quiet">{w.questions} questions</span>}
      {w.behind > 0 && <span className="quiet">{w.behind} behind it</span>}
      <a className="open" href={w.to_agent === "human" ? to("q", w.id) : to("conversations", w.thread || w.id)}>
        {w.to_agent === "human" ? "Answer" : "Conversation"}
      </a>
    </li>
  );
}

function Talks({ agent }: { agent: string }) {
  const { data, error } = useRecentMail(agent);
  const now = useNow();
  const all = talks(data?.rows ?? [], agent).slice(0, shownTalks);
  return (
    <>
      <h2>Recent conversations</h2>
      {error && <Trouble err={error} />}
      {data && all.length === 0 && <Empty title="It has not talked yet">What it writes and is written is here.</Empty>}
      <ul className="plainlist talks">
        {all.map((t) => (
          <li key={t.thread}>
            <a href={to("conversations", t.thread)} dir="auto">
              {plain(subject(textOf(t.last))) || "The text was trimmed"}
            </a>
            <p className="quiet">
              {t.last.from_agent === agent ? "It wrote to " : "From "}
              <Other id={t.last.from_agent === agent ? (t.last.to_agent ?? "") : t.last.from_agent} />
              {t.count > 1 && ` · ${t.count} of its last messages`} · <time title={moment(t.last.timestamp)}>{ago(t.last.timestamp, now)}</time>
            </p>
          </li>
        ))}
      </ul>
    </>
  );
}

function Facts({ agent: a }: { agent: SeenAgent }) {
  const now = useNow();
  const facts: [string, string][] = [
    ["Name", a.name && a.name !== a.id ? a.name : ""],
    ["Folder", a.cwd ?? ""],
    ["Host", a.host ?? ""],
    ["Kind", a.type ?? ""],
    ["Client", a.client ?? ""],
    ["Seen", `${ago(a.last_seen, now)} (${moment(a.last_seen)})`],
    ["Registered", moment(a.registered_at)],
  ];
  return (
    <aside aria-label="Facts">
      <h2>Facts</h2>
      <dl className="facts">
        {facts
          .filter(([, value]) => value !== "")
          .map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi dir={name === "Folder" ? "ltr" : "auto"}>
                  <InOrder>{plain(value)}</InOrder>
                </bdi>
              </dd>
            </div>
          ))}
        <Links name="Queues" ids={a.capabilities.map((c) => `role/${c}`)} />
        <Links name="Rooms" ids={a.rooms.map((r) => `#${r}`)} />
      </dl>
    </aside>
  );
}

function Links({ name, ids }: { name: string; ids: string[] }) {
  if (ids.length === 0) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd className="row">
        {ids.map((id) => (
          <Who key={id} id={id} />
        ))}
      </dd>
    </div>
  );
}

function Other({ id }: { id: string }) {
  return id === "human" ? "you" : <Who id={id} />;
}
