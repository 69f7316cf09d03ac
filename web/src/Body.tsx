import { type Ref, useEffect, useMemo, useState } from "react";
import type { Piece } from "./highlight";
import { type Block, type Inline, parseMarkdown } from "./markdown";
import { exact, firstLines, plain } from "./plain";
import { copy, InOrder } from "./ui";
import "./Body.css";

const shownLines = 40; // of a message, before somebody asks for all of it
const shortLines = 3; // what is short is copied by hand

// Body is what an agent wrote: its markdown as our elements around text
// nodes, or as it came.
export function Body({ children: text }: { children: string }) {
  const [all, setAll] = useState(false);
  const [raw, setRaw] = useState(false);
  const short = all ? text : firstLines(text, shownLines);
  const blocks = useMemo(() => parseMarkdown(short), [short]);
  const formatted = blocks.some((b) => b.kind !== "paragraph" || b.text.some((t) => t.kind !== "text"));
  return (
    <div className="view-body" dir="auto">
      {raw ? <p className="text">{plain(short)}</p> : blocks.map((b, n) => <Part key={n} block={b} />)}
      <div className="tools">
        {short !== text && (
          <button className="link" onClick={() => setAll(true)}>
            Show all {text.split("\n").length} lines
          </button>
        )}
        {formatted && (
          <button className="link" aria-pressed={raw} onClick={() => setRaw(!raw)}>
            {raw ? "Formatted" : "Raw"}
          </button>
        )}
        {(formatted || text.split("\n").length > shortLines) && (
          <button className="link" onClick={() => void copy(text)}>
            Copy
          </button>
        )}
      </div>
    </div>
  );
}

// Exact is what an agent asks permission for. A person decides about these very
// characters, so none of them is formatted, no line is left out and long lines wrap.
// The end of it is what tells that all of it was on the screen.
export function Exact({ children: text, end: watch }: { children: string; end?: Ref<HTMLElement> }) {
  const end = text.indexOf("\n\n");
  const input = end < 0 ? "" : text.slice(end + 2);
  return (
    <div className="view-body exact" dir="ltr">
      <p className="text">
        <InOrder>{exact(end < 0 ? text : text.slice(0, end))}</InOrder>
      </p>
      {input !== "" && <Part block={{ kind: "code", language: input.startsWith("$ ") ? "bash" : "diff", text: input }} spelled={exact} />}
      <span className="end" ref={watch} />
    </div>
  );
}

function Part({ block: b, spelled = plain }: { block: Block; spelled?: (text: string) => string }) {
  switch (b.kind) {
    case "code":
      return (
        <div className="code">
          <div className="codehead">
            <span>{plain(b.language)}</span>
            <button className="link" onClick={() => void copy(b.text)} aria-label="Copy code">
              Copy
            </button>
          </div>
          <pre tabIndex={0} dir="ltr">
            <Code language={b.language}>{spelled(b.text)}</Code>
          </pre>
        </div>
      );
    case "list": {
      const items = b.items.map((item, n) => (
        <li key={n}>
          <Spans of={item} />
        </li>
      ));
      return b.ordered ? <ol>{items}</ol> : <ul>{items}</ul>;
    }
    case "table":
      return (
        <div className="tablebox" tabIndex={0} role="region" aria-label="Table">
          <table>
            <thead>
              <tr>
                {b.head.map((cell, n) => (
                  <th key={n}>
                    <Spans of={cell} />
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {b.rows.map((row, r) => (
                <tr key={r}>
                  {row.map((cell, n) => (
                    <td key={n}>
                      <Spans of={cell} />
                    </td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      );
    case "heading":
      return (
        <p className="title">
          <Spans of={b.text} />
        </p>
      );
    case "quote":
      return (
        <blockquote>
          <Spans of={b.text} />
        </blockquote>
      );
    case "paragraph":
      return (
        <p>
          <Spans of={b.text} />
        </p>
      );
  }
}

type Highlight = typeof import("./highlight").highlight;
let highlighting: Promise<Highlight> | undefined; // read when the first code is shown

// Code is coloured once its colours are there, and is the same text without them.
function Code({ children: text, language }: { children: string; language: string }) {
  const [pieces, setPieces] = useState<Piece[]>();
  useEffect(() => {
    if (language === "") return;
    let gone = false;
    highlighting ??= import("./highlight").then((m) => m.highlight);
    highlighting.then(
      (highlight) => !gone && setPieces(highlight(text, language.toLowerCase())),
      () => (highlighting = undefined), // the coordinator is away
    );
    return () => {
      gone = true;
    };
  }, [text, language]);
  return (
    pieces?.map((p, n) =>
      p.kind === "" ? (
        <InOrder key={n}>{p.text}</InOrder>
      ) : (
        <span key={n} className={p.kind}>
          <InOrder>{p.text}</InOrder>
        </span>
      ),
    ) ?? <InOrder>{text}</InOrder>
  );
}

function Spans({ of }: { of: Inline[] }) {
  return of.map((s, n) => {
    if (s.kind === "code") {
      return (
        <code key={n} dir="ltr">
          <InOrder>{plain(s.text)}</InOrder>
        </code>
      );
    }
    if (s.kind === "bold") return <strong key={n}>{plain(s.text)}</strong>;
    return <span key={n}>{plain(s.text)}</span>;
  });
}
