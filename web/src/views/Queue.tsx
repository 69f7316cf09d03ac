import { useQuery } from "@tanstack/react-query";
import { call } from "../api";
import { useNow, useRecentMail } from "../data";
import { useShortcuts } from "../keys";
import { textOf } from "../mail";
import { subject } from "../markdown";
import { ago, moment, plain, standing } from "../plain";
import { go, to } from "../route";
import { Empty, Head, Reach, Who } from "../ui";
import type { Ticket } from "@c3po-dev/client";
import "./Queue.css";
import { useQueues } from "./Rooms";

// Queue is who shares a queue, and what waits in it and who holds it.
export function Queue({ name }: { name: string }) {
  const now = useNow();
  const queue = useQueues().find((q) => q.name === name);
  const mail = useRecentMail(`role/${name}`);
  useShortcuts({ Escape: () => go("rooms") });
  const texts = new Map((mail.data?.rows ?? []).map((m) => [m.id, subject(textOf(m))]));
  return (
    <section className="page view-queue">
      <Head title={`role:${plain(name)}`}>
        <a href={to("rooms")}>All queues</a>
      </Head>
      <h2>Without an answer</h2>
      {(queue?.open.length ?? 0) === 0 && (
        <Empty title="Nothing waits" command={`c3po send role:${plain(name)} "Who is free to look at #12?"`}>
          What is sent to the queue goes to any one of its agents.
        </Empty>
      )}
      <ul className="plainlist">
        {(queue?.open ?? []).map((t) => (
          <Waiting key={t.id} ticket={t} text={texts.get(t.id) ?? ""} now={now} />
        ))}
      </ul>
      <h2>Agents</h2>
      {(queue?.members.length ?? 0) === 0 && <p className="quiet">No agent has this capability.</p>}
      <ul className="plainlist">
        {(queue?.members ?? []).map((a) => (
          <li key={a.id} className="member">
            <Who id={a.id} />
            <span className="quiet">{standing({ ...a, read: now }, now)}</span>
            <Reach agent={{ ...a, read: now }} />
          </li>
        ))}
      </ul>
    </section>
  );
}

function Waiting({ ticket: t, text, now }: { ticket: Ticket; text: string; now: number }) {
  const { data } = useQuery({ queryKey: ["trace", t.id], queryFn: () => call("trace", { message_id: t.id }) });
  return (
    <li className="one">
      <a className="stretched" href={to("conversations", t.thread || t.id)} dir="auto">
        {plain(text) || "The text was trimmed"}
      </a>
      <p className="quiet">
        from <Who id={t.from_agent} />, <time title={moment(t.created_at)}>{ago(t.created_at, now)}</time> ·{" "}
        {data?.claimed ? (
          <>
            held by <Who id={data.claimed.by} /> since {ago(data.claimed.at, now)}
          </>
        ) : (
          "nobody has claimed it"
        )}
      </p>
    </li>
  );
}
