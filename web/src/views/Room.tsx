import { useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useRef, useState } from "react";
import { act as actAsPerson, call, clientKey } from "../api";
import { Body } from "../Body";
import { useNow } from "../data";
import { useShortcuts } from "../keys";
import { textOf } from "../mail";
import { ago, moment, plain } from "../plain";
import { go, to } from "../route";
import { mayAct, useSession } from "../session";
import { Compose, Empty, Head, say, sayError, Trouble, Who } from "../ui";
import "./Room.css";
import { useRooms } from "./Rooms";

// Room is what was said in one room, the latest first, and where the person says more.
export function Room({ name }: { name: string }) {
  const now = useNow();
  const act = mayAct(useSession());
  const client = useQueryClient();
  const room = useRooms().data?.rows.find((r) => r.room === name);
  const [busy, setBusy] = useState(false);
  const key = useRef(clientKey());
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["room", name],
    queryFn: ({ pageParam }) => call("room_history", { room: name, cursor: pageParam, limit: 50 }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
  });
  useShortcuts({ Escape: () => go("rooms") });
  const posts = [...new Map((data?.pages ?? []).flatMap((p) => p.rows).map((m) => [m.id, m])).values()].sort((a, b) => (b.seq ?? 0) - (a.seq ?? 0));
  const post = async (text: string) => {
    setBusy(true);
    try {
      await actAsPerson("room_post", { room: name, message: text, client_key: key.current });
      key.current = clientKey();
      say(`Said in #${plain(name)}`);
      await client.invalidateQueries({ queryKey: ["room", name] });
      return true;
    } catch (err) {
      sayError(err);
      return false;
    } finally {
      setBusy(false);
    }
  };
  return (
    <section className="page view-room">
      <Head title={`#${plain(name)}`}>
        {room && (
          <span className="quiet">
            {room.members} {room.members === 1 ? "member" : "members"}
            {room.visibility === "invite_only" && ", by invitation"}
          </span>
        )}
        <a href={to("rooms")}>All rooms</a>
      </Head>
      {act && name !== "all" && !error && <Compose label={`Say in #${plain(name)}`} button="Post" draft={`room ${name}`} busy={busy} onSend={post} />}
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {data && posts.length === 0 && <Empty title="Nothing was said yet">What members post is here at once.</Empty>}
      <ol className="posts">
        {posts.map((m) => (
          <li key={m.id}>
            <div className="meta">
              <Who id={m.from_agent} />
              {m.kind === "broadcast" && <span className="badge">to everybody</span>}
              <time title={moment(m.timestamp)}>{ago(m.timestamp, now)}</time>
            </div>
            <Body>{textOf(m)}</Body>
          </li>
        ))}
      </ol>
      {hasNextPage && (
        <button disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Show earlier posts
        </button>
      )}
    </section>
  );
}
