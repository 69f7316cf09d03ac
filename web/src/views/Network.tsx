import { Background, Controls, type Edge, ReactFlow, type Viewport } from "@xyflow/react";
import "@xyflow/react/dist/style.css";
import { useEffect, useMemo, useState } from "react";
import { useAgents, useLog } from "../data";
import { useKept } from "../kept";
import { onEvents, useRecent } from "../live";
import { go } from "../route";
import { useTheme } from "../theme";
import { Empty, Head } from "../ui";
import { layout } from "../layout";
import { ends } from "../mail";
import type { Event } from "../wire";
import "./Network.css";

const maxNodes = 80; // more are no picture any more

// pairOf is the conversation an event belongs to, in one order. What the
// coordinator itself says, of mail that was not read for example, is none.
function pairOf(e: Event): [string, string] | null {
  const { from, to } = ends(e.message_id ?? "");
  if (!from || !to || from === to || from === "system") return null;
  return from < to ? [from, to] : [to, from];
}

export default function Network() {
  const theme = useTheme();
  const events = useRecent();
  const { agents } = useAgents();
  const [viewport, setViewport] = useKept<Viewport | null>("network viewport", null);
  const [pulses, setPulses] = useState<ReadonlySet<string>>(new Set());
  useLog();
  useEffect(() => {
    const timers = new Set<number>();
    const stop = onEvents((news) => {
      const hit = news
        .map(pairOf)
        .filter((p) => p !== null)
        .map((p) => p.join("→"));
      if (hit.length === 0) return;
      setPulses((is) => new Set([...is, ...hit]));
      const timer = window.setTimeout(() => {
        timers.delete(timer);
        setPulses((is) => new Set([...is].filter((p) => !hit.includes(p))));
      }, 1200);
      timers.add(timer);
    });
    return () => {
      stop();
      timers.forEach(clearTimeout);
    };
  }, []);

  const talk = useMemo(() => {
    const counts = new Map<string, { a: string; b: string; n: number }>();
    for (const e of events) {
      const pair = pairOf(e);
      if (!pair) continue;
      const name = pair.join("→");
      const known = counts.get(name);
      if (known) known.n++;
      else counts.set(name, { a: pair[0], b: pair[1], n: 1 });
    }
    return counts;
  }, [events]);
  // Those who talk, the busiest first; then who is online.
  const ids = useMemo(() => {
    const busy = new Map<string, number>();
    for (const { a, b, n } of talk.values()) {
      busy.set(a, (busy.get(a) ?? 0) + n);
      busy.set(b, (busy.get(b) ?? 0) + n);
    }
    const all = [...busy.entries()].sort((x, y) => y[1] - x[1]).map(([id]) => id);
    const seen = new Set(all);
    for (const a of agents) if (all.length < maxNodes && a.status === "online" && !seen.has(a.id)) all.push(a.id);
    return all.slice(0, maxNodes).sort().join("\n");
  }, [talk, agents]);
  const nodes = useMemo(() => (ids === "" ? [] : layout(ids.split("\n"), new Map(agents.map((a) => [a.id, a])), window.innerWidth < 736)), [ids, agents]);
  const edges = useMemo((): Edge[] => {
    const known = new Set(nodes.map((n) => n.id));
    return [...talk.entries()]
      .filter(([, t]) => known.has(t.a) && known.has(t.b))
      .map(([id, t]) => ({
        id,
        source: t.a,
        target: t.b,
        className: pulses.has(id) ? "pulse" : "",
        type: "straight",
        style: { strokeWidth: Math.min(6, 1 + Math.log2(t.n)) },
      }));
  }, [talk, nodes, pulses]);

  return (
    <section className="page fill view-network">
      <Head title="Network">
        <span className="quiet">Who talks with whom, by host. An edge lights up when something happens on it.</span>
      </Head>
      {nodes.length === 0 ? (
        <Empty title="Nobody has talked yet">Agents appear here when they write to each other.</Empty>
      ) : (
        <div className="graph" aria-label={`${nodes.length} nodes, ${edges.length} conversations`} role="group">
          {/* Anew when somebody came or went, so that all of them are in the picture. */}
          <ReactFlow
            key={ids}
            nodes={nodes}
            edges={edges}
            colorMode={theme === "auto" ? "system" : theme}
            {...(viewport ? { defaultViewport: viewport } : { fitView: true })}
            // Only what a person has moved is kept: fitting moves too, without an event.
            onMoveEnd={(e, to) => e && setViewport(to)}
            minZoom={0.1}
            nodesConnectable={false}
            nodesDraggable={false}
            elementsSelectable={false}
            nodesFocusable={false}
            edgesFocusable={false}
            onNodeClick={(_, node) => node.type !== "group" && node.id !== "human" && go("agents", node.id)}
            proOptions={{ hideAttribution: false }}
          >
            <Background gap={24} />
            <Controls showInteractive={false} />
          </ReactFlow>
        </div>
      )}
    </section>
  );
}
