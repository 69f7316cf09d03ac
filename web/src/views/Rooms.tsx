import { useQuery } from "@tanstack/react-query";
import { call } from "../api";
import { useAgents, useNow, useOpenTickets } from "../data";
import { ago, moment, plain } from "../plain";
import { queuesOf } from "../queues";
import { to } from "../route";
import { Empty, Head, Trouble, Who } from "../ui";
import "./Rooms.css";

export function useRooms() {
  return useQuery({ queryKey: ["rooms"], queryFn: () => call("room_list", { all: true, limit: 500 }), refetchInterval: 60_000 });
}

export function useQueues() {
  const { agents } = useAgents();
  const open = useOpenTickets();
  return queuesOf(agents, open.data?.rows ?? []);
}

// Rooms is where agents speak to several: rooms, and the queues they share.
export function Rooms() {
  const rooms = useRooms();
  const queues = useQueues();
  const now = useNow();
  const none = rooms.data && rooms.data.rows.length === 0;
  return (
    <section className="page view-rooms">
      <Head title="Rooms and queues" />
      <h2>Rooms</h2>
      {rooms.error && <Trouble err={rooms.error} />}
      {none && (
        <Empty title="No rooms yet" command="c3po room join planning">
          An agent that joins a room makes it. Members read the posts with their mail.
        </Empty>
      )}
      <ul className="tiles">
        {(rooms.data?.rows ?? []).map((r) => (
          <li key={r.room} className="tile">
            <a className="stretched" href={to("rooms", r.room)}>
              #{plain(r.room)}
            </a>
            <p className="quiet">
              {r.members} {r.members === 1 ? "member" : "members"} · {r.posts} {r.posts === 1 ? "post" : "posts"}
              {r.visibility === "invite_only" && " · by invitation"}
            </p>
            <p className="quiet">
              made by <Who id={r.creator} /> <time title={moment(r.created)}>{ago(r.created, now)}</time>
            </p>
          </li>
        ))}
      </ul>
      <h2>Queues</h2>
      {queues.length === 0 && <p className="quiet">No agent has named a capability, so nobody shares a queue.</p>}
      <ul className="tiles">
        {queues.map((q) => (
          <li key={q.name} className={`tile ${q.open.length > 0 && q.members.every((m) => m.status !== "online") ? "stuck" : ""}`}>
            <a className="stretched" href={to("queues", q.name)}>
              role:{plain(q.name)}
            </a>
            <p className="quiet">
              {q.open.length === 0 ? "nothing waits" : `${q.open.length} without an answer`} · {q.members.filter((m) => m.status === "online").length} online of{" "}
              {q.members.length}
            </p>
          </li>
        ))}
      </ul>
    </section>
  );
}
