import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { call, list as read } from "../api";
import { useNow } from "../data";
import { useShortcuts } from "../keys";
import { List, useList } from "../list";
import { ago, moment, plain } from "../plain";
import { mayAct, useSession } from "../session";
import { Dialog, Empty, Head, Id, say, sayError, Text, Trouble, Who } from "../ui";
import { textOf } from "../mail";
import type { Letter, LetterOutcome, Message } from "../wire";

const rowHeight = 52;

const reasons: Record<string, string> = {
  expired: "nobody read it in time",
  corrupt: "its text was damaged",
  recipient_removed: "its reader was removed",
};

export function Letters() {
  const act = mayAct(useSession());
  const client = useQueryClient();
  const now = useNow();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [open, setOpen] = useState("");
  const [sure, setSure] = useState<"picked" | "all" | "">("");
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["letters"],
    queryFn: ({ pageParam }) => read<Letter>("dead_letters", { cursor: pageParam, limit: 200 }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
  });
  const letters = useMemo(() => data?.pages.flatMap((p) => p.rows) ?? [], [data]);
  const list = useList({
    name: "letters",
    rows: letters,
    id: (l) => l.id,
    height: rowHeight,
    onOpen: (l) => setOpen(l.id),
    more: { has: hasNextPage, busy: isFetchingNextPage, read: fetchNextPage },
  });
  useShortcuts({ x: () => list.current && pick(list.current.id) });

  const pick = (id: string) => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    setPicked(next);
  };
  const settle = async (what: "replay" | "purge", selection: object) => {
    try {
      const outcome = await call<LetterOutcome>(`dead_letter_${what}`, selection);
      const done = what === "replay" ? "delivered again" : "forgotten";
      say(`${outcome.done.length} ${done}${outcome.more ? "; there are more" : ""}`);
      for (const left of outcome.left.slice(0, 3)) say(`${plain(left.id)} was left: ${plain(left.why)}`, true);
      setPicked(new Set());
      await client.invalidateQueries({ queryKey: ["letters"] });
    } catch (err) {
      sayError(err);
    }
  };
  const ids = [...picked];

  return (
    <section className="page fill">
      <Head title="Dead letters">
        {act && letters.length > 0 && (
          <div className="row">
            <button disabled={ids.length === 0} onClick={() => void settle("replay", { message_ids: ids })}>
              Deliver again{ids.length > 0 ? ` (${ids.length})` : ""}
            </button>
            <button disabled={ids.length === 0} onClick={() => setSure("picked")}>
              Forget{ids.length > 0 ? ` (${ids.length})` : ""}
            </button>
            <button onClick={() => setSure("all")}>Forget all</button>
          </div>
        )}
      </Head>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {!isPending && letters.length === 0 && <Empty title="No dead letters">Mail that nobody reads in its time comes here, with the reason.</Empty>}
      <List list={list} label="Dead letters">
        {(l) => (
          <>
            {act && <input type="checkbox" aria-label={`Choose ${plain(l.id)}`} checked={picked.has(l.id)} onChange={() => pick(l.id)} />}
            <button className="bare" onClick={() => setOpen(l.id)}>
              <span className="pair">
                <Id>{l.from_agent}</Id>
                <span className="quiet"> → </span>
                <Id>{l.to_agent}</Id>
              </span>
              <span className="badge bad">{reasons[l.reason] ?? plain(l.reason)}</span>
              <time className="quiet" title={moment(l.died_at)}>
                {ago(l.died_at, now)}
              </time>
            </button>
          </>
        )}
      </List>
      {open && <LetterSheet id={open} act={act} onClose={() => setOpen("")} onReplay={() => (setOpen(""), void settle("replay", { message_ids: [open] }))} />}
      {sure && (
        <Dialog title={sure === "all" ? "Forget all dead letters?" : `Forget ${ids.length} dead letters?`} onClose={() => setSure("")}>
          <p>They cannot be brought back.</p>
          <div className="row acts">
            <button className="danger" onClick={() => (void settle("purge", sure === "all" ? { all: true } : { message_ids: ids }), setSure(""))}>
              Forget
            </button>
            <button onClick={() => setSure("")}>Keep</button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

function LetterSheet({ id, act, onClose, onReplay }: { id: string; act: boolean; onClose: () => void; onReplay: () => void }) {
  const { data, error } = useQuery({ queryKey: ["letters", id], queryFn: () => call<{ letter: Letter; message: Message }>("dead_letter", { message_id: id }) });
  return (
    <Dialog title="Dead letter" onClose={onClose}>
      {error && <Trouble err={error} />}
      {data && (
        <>
          <dl className="facts">
            <div>
              <dt>From</dt>
              <dd>
                <Who id={data.letter.from_agent} />
              </dd>
            </div>
            <div>
              <dt>To</dt>
              <dd>
                <Who id={data.letter.to_agent} />
              </dd>
            </div>
            <div>
              <dt>Why</dt>
              <dd>{reasons[data.letter.reason] ?? plain(data.letter.reason)}</dd>
            </div>
            <div>
              <dt>Sent</dt>
              <dd>{moment(data.letter.sent_at)}</dd>
            </div>
            <div>
              <dt>Died</dt>
              <dd>{moment(data.letter.died_at)}</dd>
            </div>
          </dl>
          <Text>{textOf(data.message)}</Text>
          {act && (
            <div className="row acts">
              <button className="primary" onClick={onReplay}>
                Deliver again
              </button>
            </div>
          )}
        </>
      )}
    </Dialog>
  );
}
