import { useState } from "react";
import { useNow, useStuck } from "../data";
import { countdown, holdUpWords, waitWords } from "../needs";
import { age, ago, moment, plain, reach, reachWhy } from "../plain";
import { to } from "../route";
import { Empty, Head, Trouble, Who } from "../ui";
import type { HoldUp, Wait } from "@c3po-dev/client";
import "./Waiting.css";

// More than these are drawn when somebody wants to see them: thousands take seconds.
const manyTrees = 30;
const manyWaits = 20;

// Waiting is who waits for whom: each tree begins with who has to move.
export function Waiting() {
  const { data, error, isPending } = useStuck(true);
  const now = useNow();
  const [trees, setTrees] = useState(manyTrees);
  const all = data?.hold_ups ?? [];
  return (
    <section className="page view-waiting">
      <Head title="Who waits for whom" />
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {data && all.length === 0 && <Empty title="Nobody waits">Nothing to do: when an agent asks another, or you, and goes on waiting, it is here.</Empty>}
      <ol className="trees">
        {all.slice(0, trees).map((h) => (
          <Tree key={h.agent} holdUp={h} now={now} />
        ))}
      </ol>
      {all.length > trees && (
        <button className="link" onClick={() => setTrees(trees + manyTrees)}>
          Show more of {all.length}
        </button>
      )}
      {data?.more && <p className="quiet">Older questions were not looked at. They are among the conversations without an answer.</p>}
    </section>
  );
}

function Tree({ holdUp: h, now }: { holdUp: HoldUp; now: number }) {
  const you = h.agent === "human";
  const [whole, setWhole] = useState(false);
  const shown = whole ? h.waits : h.waits.slice(0, manyWaits);
  return (
    <li className={`tree ${you ? "you" : ""} ${h.circle ? "circle" : ""}`}>
      <h2>
        <a href={you ? to("questions") : to("agents", h.agent)}>{holdUpWords(h)}</a>
      </h2>
      {you && <p className="quiet">Answering frees those below.</p>}
      {!you && h.reachability && (
        <p className="quiet">
          It reads mail {h.reachability === "now" ? "at once" : reach(h.reachability)}. {reachWhy(h.reachability)}
        </p>
      )}
      <ul>
        {shown.map((w) => (
          <Row key={w.id} wait={w} now={now} />
        ))}
      </ul>
      {shown.length < h.waits.length && (
        <button className="link" onClick={() => setWhole(true)}>
          Show all {h.waits.length}
        </button>
      )}
    </li>
  );
}

function Row({ wait: w, now }: { wait: Wait; now: number }) {
  const left = countdown(w.deadline, now);
  const toYou = w.to_agent === "human";
  const how = waitWords(w);
  return (
    <li className={`depth${Math.min(w.depth, 6)}`}>
      <div className="wait">
        <span className="who">
          <Who id={w.from_agent} /> <span className="quiet">waits for</span> {toYou ? "you" : <Who id={w.to_agent} />}
        </span>
        <span className="how quiet">
          <span title={`${moment(w.since)}, ${ago(w.since, now)}`}>{age((now - Date.parse(w.since)) / 1000)}</span>
          {how && <span>{plain(how)}</span>}
          {left && <span className={left.urgency}>{left.text}</span>}
          {w.questions > 1 && <span>{w.questions} questions</span>}
          {w.behind > 0 && <span>{w.behind} behind it</span>}
        </span>
        <a className="stretched" href={toYou ? to("q", w.id) : to("conversations", w.thread || w.id)}>
          {toYou ? "Answer" : "Conversation"}
        </a>
      </div>
    </li>
  );
}
