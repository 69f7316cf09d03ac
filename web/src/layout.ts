import type { Node, Position } from "@xyflow/react";
import type { SeenAgent } from "./mail";
import { plain } from "./plain";

const width = 150;
const height = 44;
const gap = 18;

// layout puts each host into a box of its own, and the boxes side by side, or on a
// phone one below the other.
export function layout(ids: string[], known: Map<string, SeenAgent>, narrow: boolean): Node[] {
  const hosts = new Map<string, string[]>();
  for (const id of ids) {
    const host = id.includes("/") ? id.slice(0, id.indexOf("/")) : id === "human" || id.startsWith("role/") ? "" : (known.get(id)?.host ?? "");
    hosts.set(host, [...(hosts.get(host) ?? []), id]);
  }
  const nodes: Node[] = [];
  let x = 0;
  let y = 0;
  let tallest = 0;
  const wide = narrow ? 0 : Math.max(900, Math.sqrt(ids.length) * (width + gap) * 1.6);
  for (const [host, members] of [...hosts].sort(([a], [b]) => a.localeCompare(b))) {
    const columns = Math.max(1, Math.ceil(Math.sqrt(members.length)));
    const lines = Math.ceil(members.length / columns);
    // Rows stand apart, so that edges between them are seen.
    const w = columns * (width + gap * 2) + gap;
    const h = lines * (height + gap * 3) + gap + 24;
    if (x > 0 && x + w > wide) {
      x = 0;
      y += tallest + gap * 3;
      tallest = 0;
    }
    const group = `host ${host}`;
    nodes.push({ id: group, type: "group", position: { x, y }, data: {}, style: { width: w, height: h }, className: "hostbox" });
    nodes.push({
      id: `name ${host}`,
      parentId: group,
      position: { x: 8, y: 4 },
      data: { label: plain(host || "here") },
      className: "hostname",
      type: "default",
    });
    members.forEach((id, n) => {
      const a = known.get(id);
      nodes.push({
        id,
        parentId: group,
        position: { x: gap + (n % columns) * (width + gap * 2), y: 28 + gap + Math.floor(n / columns) * (height + gap * 3) },
        data: { label: plain(id.includes("/") && host !== "" ? id.slice(id.indexOf("/") + 1) : id) },
        className: `agent ${a?.paused ? "paused" : (a?.status ?? "")}`,
        sourcePosition: "bottom" as Position,
        targetPosition: "top" as Position,
        style: { width, height },
      });
    });
    x += w + gap * 3;
    tallest = Math.max(tallest, h);
  }
  return nodes;
}
