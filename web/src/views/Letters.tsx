import { useInfiniteQuery, useQuery, useQueryClient } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { call } from "../api";
import { useNow } from "../data";
import { useShortcuts } from "../keys";
import { type Group, grouped, letterRows, reasonWords } from "../letters";
import { List, useList } from "../list";
import { subject } from "../markdown";
import { ago, moment, plain } from "../plain";
import { mayAct, useSession } from "../session";
import { Dialog, Empty, Head, Id, say, sayError, Text, Trouble, Who } from "../ui";
import { textOf } from "../mail";
import "./Letters.css";

const rowHeight = 56;
const openUpTo = 3; // letters of a group that are shown from the start

export function Letters() {
  const act = mayAct(useSession());
  const client = useQueryClient();
  const now = useNow();
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const [turned, setTurned] = useState<ReadonlySet<string>>(new Set()); // groups that were opened or closed
  const [open, setOpen] = useState("");
  const [sure, setSure] = useState<{ title: string; selection: object } | null>(null);
  const { data, error, isPending, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: ["letters"],
    queryFn: ({ pageParam }) => call("dead_letters", { cursor: pageParam, limit: 200 }),
    initialPageParam: "",
    getNextPageParam: (last) => last.next || undefined,
  });
  const letters = useMemo(() => data?.pages.flatMap((p) => p.rows) ?? [], [data]);
  const groups = useMemo(() => grouped(letters), [letters]);
  const shown = new Set(groups.filter((g) => g.letters.length <= openUpTo !== turned.has(g.name)).map((g) => g.name));
  const turn = (name: string) => {
    const next = new Set(turned);
    if (!next.delete(name)) next.add(name);
    setTurned(next);
  };
  const list = useList({
    name: "letters",
    rows: letterRows(groups, shown),
    id: (r) => r.id,
    height: rowHeight,
    onOpen: (r) => (r.kind === "group" ? turn(r.group.name) : setOpen(r.letter.id)),
    more: { has: hasNextPage, busy: isFetchingNextPage, read: fetchNextPage },
  });
  useShortcuts({ x: () => list.current?.kind === "letter" && pick(list.current.id) });

  const pick = (id: string) => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    setPicked(next);
  };
  const settle = async (what: "replay" | "purge", selection: object) => {
    try {
      const outcome = await call(`dead_letter_${what}`, selection);
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
    <section className="page fill view-letters">
      <Head title="Dead letters">
        {act && letters.length > 0 && (
          <div className="row">
            <button disabled={ids.length === 0} onClick={() => void settle("replay", { message_ids: ids })}>
              Deliver again{ids.length > 0 ? ` (${ids.length})` : ""}
            </button>
            <button disabled={ids.length === 0} onClick={() => setSure({ title: `Forget ${ids.length} dead letters?`, selection: { message_ids: ids } })}>
              Forget{ids.length > 0 ? ` (${ids.length})` : ""}
            </button>
            <button onClick={() => setSure({ title: "Forget all dead letters?", selection: { all: true } })}>Forget all</button>
          </div>
        )}
      </Head>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {!isPending && letters.length === 0 && (
        <Empty title="No dead letters">
          Nothing to do: mail that nobody reads in its time comes here, with the reason, to be delivered again or forgotten.
        </Empty>
      )}
      <List
        list={list}
        label="Dead letters"
        draw={(r) =>
          r.kind === "group" ? (
            <GroupRow
              group={r.group}
              more={hasNextPage}
              open={shown.has(r.group.name)}
              act={act}
              now={now}
              onTurn={() => turn(r.group.name)}
              onReplay={() => void settle("replay", { agent_id: r.group.to, reason: r.group.reason })}
              onForget={() => setSure({ title: `Forget all letters to ${plain(r.group.to)}?`, selection: { agent_id: r.group.to, reason: r.group.reason } })}
            />
          ) : (
            <>
              {act && <input type="checkbox" aria-label={`Choose ${plain(r.id)}`} checked={picked.has(r.id)} onChange={() => pick(r.id)} />}
              <button className="bare" onClick={() => setOpen(r.id)}>
                <span className="what">
                  <Preview id={r.id} />
                  <span className="quiet from">
                    from <bdi>{plain(r.letter.from_agent)}</bdi>
                    {r.letter.kind === "bounce" && ", about mail that died before"}
                  </span>
                </span>
                <time className="quiet" title={moment(r.letter.died_at)}>
                  {ago(r.letter.died_at, now)}
                </time>
              </button>
            </>
          )
        }
      />
      {open && <LetterSheet id={open} act={act} onClose={() => setOpen("")} onReplay={() => (setOpen(""), void settle("replay", { message_ids: [open] }))} />}
      {sure && (
        <Dialog title={sure.title} onClose={() => setSure(null)}>
          <p>They cannot be brought back.</p>
          <div className="row acts">
            <button className="danger" onClick={() => (void settle("purge", sure.selection), setSure(null))}>
              Forget
            </button>
            <button onClick={() => setSure(null)}>Keep</button>
          </div>
        </Dialog>
      )}
    </section>
  );
}

interface GroupProps {
  group: Group;
  more: boolean; // there are letters that were not read yet
  open: boolean;
  act: boolean;
  now: number;
  onTurn: () => void;
  onReplay: () => void;
  onForget: () => void;
}

function GroupRow({ group: g, more, open, act, now, onTurn, onReplay, onForget }: GroupProps) {
  const n = g.letters.length;
  const last = g.letters[0]!.died_at;
  return (
    <div className="group">
      <button className="bare" aria-expanded={open} onClick={onTurn}>
        <span className="sign" aria-hidden="true">
          {open ? "▾" : "▸"}
        </span>
        <span className="what">
          <span className="to">
            to <Id>{g.to}</Id>
          </span>
          <span className="quiet from">
            <span className="bad">{reasonWords(g.reason)}</span> · {n}
            {more ? "+" : ""} {n === 1 ? "letter" : "letters"}
            {g.bounces > 0 && `, ${g.bounces} about mail that died before`}
          </span>
        </span>
        <time className="quiet" title={moment(last)}>
          {ago(last, now)}
        </time>
      </button>
      {act && (
        <span className="row wide">
          <button className="link" aria-label={`Deliver again to ${plain(g.to)}`} onClick={onReplay}>
            Deliver again
          </button>
          <button className="link bad" aria-label={`Forget letters to ${plain(g.to)}`} onClick={onForget}>
            Forget
          </button>
        </span>
      )}
    </div>
  );
}

function useLetter(id: string) {
  return useQuery({
    queryKey: ["letter", id],
    queryFn: () => call("dead_letter", { message_id: id }),
    staleTime: Infinity,
  });
}

// Preview is the first line of a letter, read when its row comes into sight.
function Preview({ id }: { id: string }) {
  const { data } = useLetter(id);
  return (
    <span className="preview" dir="auto">
      {data ? plain(subject(textOf(data.message))) || "The text was trimmed" : "…"}
    </span>
  );
}

function LetterSheet({ id, act, onClose, onReplay }: { id: string; act: boolean; onClose: () => void; onReplay: () => void }) {
  const { data, error } = useLetter(id);
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
              <dd>{reasonWords(data.letter.reason)}</dd>
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
