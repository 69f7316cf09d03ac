import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { call } from "../api";
import { useAgents, useLog, useNow, useOpenTickets, useQuestionCount } from "../data";
import { useKnownSince, useRecent } from "../live";
import { counted, points, series, step } from "../rates";
import { ago, clock, moment, plain } from "../plain";
import { to } from "../route";
import { useTheme } from "../theme";
import { Head, Id, Reach, Who } from "../ui";
import type { Event } from "@c3po-dev/client";
import Leases from "./Leases";
import "./Overview.css";

export default function Overview() {
  const now = useNow(2000);
  const events = useRecent();
  const questions = useQuestionCount();
  const { agents, hasNextPage } = useAgents();
  const since = useKnownSince();
  useLog();
  const info = useQuery({ queryKey: ["info"], queryFn: () => call("server_info", {}) });
  const open = useOpenTickets();
  const letters = useQuery({ queryKey: ["letters", "count"], queryFn: () => call("dead_letters", { limit: 200 }) });

  const unread = useMemo(() => agents.reduce((sum, a) => sum + (a.unread ?? 0), 0), [agents]);
  const fullest = useMemo(
    () =>
      agents
        .filter((a) => (a.unread ?? 0) > 0)
        .sort((a, b) => (b.unread ?? 0) - (a.unread ?? 0))
        .slice(0, 8),
    [agents],
  );
  const oldest = useMemo(() => [...(open.data?.rows ?? [])].sort((a, b) => a.seq - b.seq).slice(0, 8), [open.data]);
  const perMinute = useMemo(() => events.filter((e) => e.kind === "accepted" && now - Date.parse(e.at) < 60_000).length, [events, now]);
  const online = agents.filter((a) => a.status === "online").length;
  const more = (n: number, next?: string | boolean) => `${n}${next ? "+" : ""}`;

  return (
    <section className="page view-overview">
      <Head title="Overview">
        {info.data && (
          <span className="quiet">
            {plain(info.data.version)}, space {plain(info.data.space)}, mail is kept {info.data.durability === "fsync" ? "on disk" : "in memory"}
          </span>
        )}
      </Head>
      <div className="tiles">
        <Tile title="Agents online" value={`${online}`} note={`of ${more(agents.length, hasNextPage)}`} href={to("agents")} />
        <Tile title="Questions for you" value={`${questions}`} href={to("questions")} warn={questions > 0} />
        <Tile title="Open mail" value={more(unread, hasNextPage)} href={to("agents")} />
        <Tile title="Without an answer" value={more(open.data?.rows.length ?? 0, open.data?.next)} href={to("conversations")} />
        <Tile title="Dead letters" value={more(letters.data?.rows.length ?? 0, letters.data?.next)} href={to("letters")} />
        <Tile title="Sent" value={`${perMinute}`} note="in the last minute" />
      </div>
      <h2>The last ten minutes</h2>
      <Rates events={events} since={since} now={now} />
      <div className="columns">
        <div>
          <h2>Waits longest for an answer</h2>
          {oldest.length === 0 && <p className="quiet">Nothing waits.</p>}
          <ul className="plainlist">
            {oldest.map((t) => (
              <li key={t.id} className="wait">
                <span className="pair">
                  <Who id={t.from_agent} />
                  <span className="quiet"> → </span>
                  <Who id={t.to_agent} />
                </span>
                <a className="stretched" href={to("conversations", t.thread || t.id)} title={moment(t.created_at)}>
                  {ago(t.created_at, now)}
                </a>
              </li>
            ))}
          </ul>
        </div>
        <div>
          <h2>Most open mail</h2>
          {fullest.length === 0 && <p className="quiet">Everything is read.</p>}
          <ul className="plainlist">
            {fullest.map((a) => (
              <li key={a.id}>
                <a href={to("agents", a.id)}>
                  <Id>{a.id}</Id>
                  <span className="badge">{a.unread} open</span>
                  <Reach agent={a} />
                </a>
              </li>
            ))}
          </ul>
        </div>
      </div>
      <Leases now={now} />
    </section>
  );
}

function Tile({ title, value, note, href, warn }: { title: string; value: string; note?: string; href?: string; warn?: boolean }) {
  const inner = (
    <>
      <span className="quiet">{title}</span>
      <strong>{value}</strong>
      <span className="quiet">{note ?? "\u00a0"}</span>
    </>
  );
  return href ? (
    <a className={`tile ${warn ? "warn" : ""}`} href={href}>
      {inner}
    </a>
  ) : (
    <div className="tile">{inner}</div>
  );
}

const clockOf = (seconds: number) => clock(new Date(seconds * 1000).toISOString());

function Rates({ events, since, now }: { events: Event[]; since: number; now: number }) {
  const [at, setAt] = useState<number | null>(null); // the step under the pointer
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const theme = useTheme();
  const rows = useMemo(() => counted(events, since, now), [events, since, now]);
  const end = Math.floor(now / step);
  const latest = useRef<uPlot.AlignedData>([[]]);
  latest.current = [Array.from({ length: points }, (_, i) => ((end - points + 1 + i) * step) / 1000), ...rows];
  useEffect(() => {
    const style = getComputedStyle(document.documentElement);
    const color = (name: string) => style.getPropertyValue(name).trim();
    const axis = { stroke: color("--quiet"), grid: { stroke: color("--line"), width: 1 }, ticks: { show: false }, font: "12px system-ui" };
    const plot = new uPlot(
      {
        width: box.current!.clientWidth,
        height: 180,
        legend: { show: false },
        cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
        hooks: { setCursor: [(u) => setAt(u.cursor.idx ?? null)] },
        scales: { y: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] } },
        axes: [
          { ...axis, size: 28, space: 80, values: (_, seconds) => seconds.map((s) => clockOf(s).slice(0, 5)) },
          { ...axis, size: 40 },
        ],
        series: [{}, ...series.map((s) => ({ stroke: color(s.color), width: 2, points: { show: false } }))],
      },
      latest.current,
      box.current!,
    );
    chart.current = plot;
    const room = box.current!;
    const resize = new ResizeObserver(() => plot.setSize({ width: room.clientWidth, height: 180 }));
    resize.observe(room);
    return () => {
      resize.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [theme]);
  useEffect(() => {
    chart.current?.setData(latest.current);
  }, [rows]);
  const start = (end - points + 1) * step;
  const seconds = at === null ? undefined : latest.current[0][at];
  return (
    <figure className="chart">
      <p className="quiet unit">per 10 s</p>
      <div ref={box} aria-hidden="true" />
      <figcaption>
        {series.map((s, n) => (
          <span key={s.name} className={`key ${s.name}`}>
            {s.name} {at === null ? rows[n]!.reduce<number>((a, b) => a + (b ?? 0), 0) : (rows[n]![at] ?? "unknown")}
          </span>
        ))}
        <span className="when">
          {seconds !== undefined
            ? `${clockOf(seconds)} to ${clockOf(seconds + step / 1000)}`
            : since > start && since < Infinity
              ? `Known since ${clock(new Date(since).toISOString())}`
              : ""}
        </span>
      </figcaption>
    </figure>
  );
}
