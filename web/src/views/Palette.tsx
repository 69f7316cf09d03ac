import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef, useState } from "react";
import { call } from "../api";
import { useAgents } from "../data";
import { find, type Target } from "../find";
import { subject } from "../markdown";
import { plain } from "../plain";
import { queuesOf } from "../queues";
import { go } from "../route";
import { useSearch } from "../search";
import { Dialog } from "../ui";
import type { SearchHit } from "@c3po-dev/client";
import "./Palette.css";
import { useRooms } from "./Rooms";

interface Props {
  views: { name: string; title: string }[];
  onClose: () => void;
}

function message(hit: SearchHit): Target {
  return {
    id: hit.id,
    kind: "message",
    name: hit.excerpt,
    note: hit.room ? `${hit.from_agent} in #${hit.room}` : `${hit.from_agent} → ${hit.to_agent ?? ""}`,
    route: hit.room ? ["rooms", hit.room] : ["conversations", hit.thread ?? hit.id],
  };
}

// Palette goes to a view, an agent, a conversation, a room or a queue by a few
// letters of its name, and to a message by its words.
export function Palette({ views, onClose }: Props) {
  const { agents } = useAgents();
  const rooms = useRooms().data?.rows;
  const talks = useQuery({ queryKey: ["palette"], queryFn: () => call("conversations", { limit: 200 }), staleTime: 5_000 }).data?.rows;
  const box = useRef<HTMLInputElement>(null);
  // After the dialog has opened, which gives the focus to its first button.
  useEffect(() => box.current?.focus(), []);
  const [typed, setTyped] = useState("");
  const [at, setAt] = useState(0);
  const targets = useMemo(
    (): Target[] => [
      ...views.map((v) => ({ kind: "view", name: v.title, note: "", route: [v.name] })),
      ...agents.map((a) => ({ kind: "agent", name: a.id, note: a.current_task || a.cwd || "", route: ["agents", a.id] })),
      ...(rooms ?? []).map((r) => ({ kind: "room", name: `#${r.room}`, note: `${r.members} members`, route: ["rooms", r.room] })),
      ...queuesOf(agents, []).map((q) => ({ kind: "queue", name: `role:${q.name}`, note: `${q.members.length} agents`, route: ["queues", q.name] })),
      ...[...new Map((talks ?? []).map((c) => [c.thread, c])).values()].map((c) => ({
        kind: "conversation",
        name: subject(c.subject ?? "") || c.thread,
        note: `${c.from_agent} → ${c.to_agent}${c.last ? `: ${subject(c.last)}` : ""}`,
        route: ["conversations", c.thread],
      })),
    ],
    [views, agents, rooms, talks],
  );
  const { data: searched, busy } = useSearch(typed);
  const found = useMemo(() => [...find(targets, typed), ...(searched?.hits ?? []).map(message)], [targets, typed, searched]);
  const chosen = Math.min(at, found.length - 1);
  const open = (t: Target | undefined) => {
    if (!t) return;
    onClose();
    go(...t.route);
  };
  const move = (by: number) => {
    const next = (chosen + by + found.length) % Math.max(1, found.length);
    setAt(next);
    document.getElementById(`found${next}`)?.scrollIntoView({ block: "nearest" });
  };
  return (
    <Dialog title="Go to" onClose={onClose}>
      <div className="view-palette">
        <input
          ref={box}
          role="combobox"
          aria-expanded="true"
          aria-controls="found"
          aria-activedescendant={found.length > 0 ? `found${chosen}` : undefined}
          aria-label="Go to an agent, a conversation, a room, a view or a message"
          placeholder="A name, or words of a message"
          spellCheck={false}
          value={typed}
          onChange={(e) => (setTyped(e.target.value), setAt(0))}
          onKeyDown={(e) => {
            if (e.key === "ArrowDown" || e.key === "ArrowUp") {
              e.preventDefault();
              move(e.key === "ArrowDown" ? 1 : -1);
            }
            if (e.key === "Enter") {
              e.preventDefault();
              open(found[chosen]);
            }
          }}
        />
        <ul id="found" role="listbox" aria-label="Found">
          {found.map((t, n) => (
            <li
              key={t.id ?? t.route.join("/")}
              id={`found${n}`}
              role="option"
              aria-selected={n === chosen}
              onClick={() => open(t)}
              onMouseMove={() => setAt(n)}
            >
              <span className="name" dir="auto">
                {plain(t.name)}
              </span>
              <span className="quiet note" dir="auto">
                {plain(t.note)}
              </span>
              <span className="quiet kind">{t.kind}</span>
            </li>
          ))}
        </ul>
        <p className="quiet" role="status">
          {busy
            ? "Searching messages …"
            : found.length === 0
              ? "No name and no message has these words."
              : searched && !searched.all
                ? "Older messages were not searched."
                : ""}
        </p>
      </div>
    </Dialog>
  );
}
