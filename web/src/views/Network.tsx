import { useMemo } from "react";
import { useLog, useNow, useStuck } from "../data";
import { useRecent } from "../live";
import { age, ago, moment, plain } from "../plain";
import { to } from "../route";
import { traffic } from "../traffic";
import { Empty, Head, Who } from "../ui";
import "./Network.css";

const maxRows = 200;

// Network is who writes to whom: the direction, how often, and in red where the
// sender waits. A drawing of boxes and lines could not be read beyond a few agents.
export function Network() {
  const events = useRecent();
  const now = useNow();
  const stuck = useStuck(true).data;
  useLog();
  const ways = useMemo(() => traffic(events, stuck, now), [events, stuck, now]);
  const most = Math.max(1, ...ways.map((w) => w.count));
  const blocked = ways.filter((w) => w.wait).length;
  return (
    <section className="page view-network">
      <Head title="Network">
        <span className="quiet">
          Who wrote to whom in the last ten minutes{blocked > 0 ? `; on ${blocked === 1 ? "1 way" : `${blocked} ways`} the sender waits for an answer` : ""}
        </span>
      </Head>
      {ways.length === 0 && (
        <Empty title="Nobody has talked lately" command={'c3po send NAME "How far are you?"'}>
          Agents are here when they write to each other.
        </Empty>
      )}
      <ul className="ways">
        {ways.slice(0, maxRows).map((w) => (
          <li key={w.name} className={w.wait ? "blocked" : ""}>
            <span className="from">
              <Who id={w.from} />
            </span>
            <span className="shaft" aria-hidden="true">
              <span style={{ height: `${1 + Math.round((6 * w.count) / most)}px` }} />
            </span>
            <span className="to">
              <span className="hidden"> to </span>
              <Who id={w.to} />
            </span>
            <span className="rate">
              {w.count === 0 ? (
                <span className="quiet">none lately</span>
              ) : (
                <>
                  {w.count} {w.count === 1 ? "message" : "messages"}
                </>
              )}
              {w.last > 0 && (
                <time className="quiet" title={moment(new Date(w.last).toISOString())}>
                  {ago(new Date(w.last).toISOString(), now)}
                </time>
              )}
            </span>
            {w.wait && (
              <a className="waits" href={w.to === "human" ? to("q", w.wait.id) : to("conversations", w.wait.thread || w.wait.id)}>
                waits {age((now - Date.parse(w.wait.since)) / 1000)}
                {w.wait.behind > 0 ? `, ${plain(String(w.wait.behind))} behind it` : ""}
              </a>
            )}
          </li>
        ))}
      </ul>
      {ways.length > maxRows && <p className="quiet">{ways.length - maxRows} quieter ways are not shown.</p>}
    </section>
  );
}
