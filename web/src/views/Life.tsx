import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api";
import { costOf, factsOf, happened, latest } from "../facts";
import { ends } from "../mail";
import { age, clock, moment, plain, reach } from "../plain";
import { useNow } from "../data";
import type { Trace } from "@c3po-dev/client";
import "./Life.css";

// Life is a message's signature: a dot for each of its six facts and the latest of
// them in words. It opens into the trace.
export function Life({ id }: { id: string }) {
  const [open, setOpen] = useState(false);
  const { data: t } = useQuery({ queryKey: ["trace", id], queryFn: () => call("trace", { message_id: id }) });
  if (!t) return <p className="view-life quiet">…</p>;
  const steps = factsOf(t);
  const last = latest(steps);
  return (
    <div className="view-life life">
      <button className="signature" aria-expanded={open} onClick={() => setOpen(!open)}>
        <span className="hidden">Life of this message: </span>
        {steps.map((s) => (
          <span key={s.name} className={`fact ${happened(s) ? (s.bad ? "bad" : "done") : ""}`} title={`${plain(s.name)}: ${plain(s.why)}`} />
        ))}
        <span className={last.bad ? "bad" : "latest"}>{plain(last.name)}</span>
        {last.at && <time title={moment(last.at)}>{clock(last.at)}</time>}
      </button>
      {open && <Facts trace={t} />}
    </div>
  );
}

function Facts({ trace: t }: { trace: Trace }) {
  const now = useNow();
  const reader = ends(t.id).to;
  return (
    <>
      <ol className="facts6">
        {factsOf(t).map((s) => (
          <li key={s.name} className={happened(s) ? (s.bad ? "bad" : "done") : ""}>
            <strong>{plain(s.name)}</strong>
            <span>{plain(s.why)}</span>
            {s.at && <time title={moment(s.at)}>{clock(s.at)}</time>}
          </li>
        ))}
      </ol>
      {t.stalled && <p>{plain(reader)} has read it, and has made no step for a while: it is stalled.</p>}
      {t.silent && (
        <p>
          {plain(reader)}{" "}
          {t.received || t.served?.length ? "has read it, and its turn ended without an answer." : "was told of it several times and has not read it."}
        </p>
      )}
      {costOf(t) && <p>{plain(costOf(t))}</p>}
      {t.claimed && (
        <p>
          Claimed by {plain(t.claimed.by)}, {clock(t.claimed.at)}.
        </p>
      )}
      {t.state === "pending" && t.reachability && (
        <p>
          {plain(reader)} reads its mail {t.reachability === "now" ? "at once" : reach(t.reachability)}
          {t.state_since ? `, so for ${age((now - Date.parse(t.state_since)) / 1000)}` : ""}.{t.expires ? ` It is kept for ${plain(t.expires)}.` : ""}
        </p>
      )}
      <p>
        <code>c3po trace {plain(t.id)}</code>
      </p>
    </>
  );
}
