import { useVirtualizer } from "@tanstack/react-virtual";
import { memo, type ReactNode, type RefObject, useEffect, useMemo, useRef } from "react";
import { useShortcuts } from "./keys";
import { useKept } from "./kept";

interface Options<Row> {
  name: string; // under which the choice is kept
  rows: Row[];
  id: (row: Row) => string; // the same function each time
  height: number;
  onOpen: (row: Row) => void;
  more?: { has: boolean; busy: boolean; read: () => unknown };
}

export interface ListState<Row> {
  scroller: RefObject<HTMLDivElement | null>;
  height: number;
  total: number;
  shown: { row: Row; id: string; start: number }[];
  current: Row | undefined;
  currentID: string;
  choose: (id: string) => void;
}

const nearEnd = 30; // rows before the end at which the next page is read

// place is where a chosen row is: by its id, because rows come and go above it.
export function place(ids: string[], chosen: string, last: number): number {
  const at = ids.indexOf(chosen);
  return at >= 0 ? at : Math.max(0, Math.min(ids.length - 1, chosen === "" ? 0 : last));
}

// useList is a long list: only what is in sight is drawn, j and k move, Enter
// opens, and the next page is read when its end comes near.
export function useList<Row>({ name, rows, id, height, onOpen, more }: Options<Row>): ListState<Row> {
  const scroller = useRef<HTMLDivElement>(null);
  const [chosen, setChosen] = useKept(`chosen ${name}`, "");
  const lastPlace = useRef(0);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => scroller.current, estimateSize: () => height, overscan: 8 });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const { has, busy, read } = more ?? {};
  useEffect(() => {
    if (has && !busy && last > rows.length - nearEnd) void read?.();
  }, [last, rows.length, has, busy, read]);
  const ids = useMemo(() => rows.map(id), [rows, id]);
  const at = place(ids, chosen, lastPlace.current);
  useEffect(() => {
    lastPlace.current = at;
  });
  const current = rows[at];
  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at + by));
    const row = rows[next];
    if (!row) return;
    setChosen(id(row));
    virtual.scrollToIndex(next);
  };
  useShortcuts({ j: () => move(1), k: () => move(-1), Enter: () => current && onOpen(current) });
  return {
    scroller,
    height,
    total: virtual.getTotalSize(),
    shown: items.flatMap((item) => {
      const row = rows[item.index];
      return row === undefined ? [] : [{ row, id: id(row), start: item.start }];
    }),
    current,
    currentID: current === undefined ? "" : id(current),
    choose: setChosen,
  };
}

interface Drawn<Row> {
  row: Row;
  id: string;
  start: number;
  height: number;
  chosen: boolean;
  choose: (id: string) => void;
  draw: (row: Row) => ReactNode;
}

// Item is drawn again only when something of it changes, and not because others
// scroll into sight.
const Item = memo(function Item<Row>({ row, id, start, height, chosen, choose, draw }: Drawn<Row>) {
  return (
    <div role="listitem" className={`item ${chosen ? "chosen" : ""}`} style={{ height, transform: `translateY(${start}px)` }} onClick={() => choose(id)}>
      {draw(row)}
    </div>
  );
}) as <Row>(props: Drawn<Row>) => ReactNode;

// List draws rows with a function that is the same as long as it draws the same.
export function List<Row>({ list, label, draw }: { list: ListState<Row>; label: string; draw: (row: Row) => ReactNode }) {
  return (
    <div className="scroll" ref={list.scroller} tabIndex={0} role="list" aria-label={label}>
      <div className="tall" style={{ height: list.total }}>
        {list.shown.map(({ row, id, start }) => (
          <Item key={id} row={row} id={id} start={start} height={list.height} chosen={id === list.currentID} choose={list.choose} draw={draw} />
        ))}
      </div>
    </div>
  );
}
