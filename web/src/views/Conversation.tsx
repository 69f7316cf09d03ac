import { useQueryClient } from "@tanstack/react-query";
import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useRef, useState } from "react";
import { Body, Exact } from "../Body";
import { act as actAsPerson, call, clientKey } from "../api";
import { clock, moment, plain } from "../plain";
import { go, to } from "../route";
import { useShortcuts } from "../keys";
import { subject } from "../markdown";
import { mayAct, useSession } from "../session";
import { Compose, Empty, Head, say, sayError, Text, Trouble, Who } from "../ui";
import { answering, textOf } from "../mail";
import { readEnd, useThread } from "../thread";
import type { Message } from "@c3po-dev/client";
import "./Conversation.css";
import { Files } from "./Files";
import { Life } from "./Life";
import { Sequence } from "./Sequence";

const endThreshold = 40; // px from the end that still count as there

export function Conversation({ thread, drawn }: { thread: string; drawn: boolean }) {
  const act = mayAct(useSession());
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const key = useRef(clientKey());
  const scroller = useRef<HTMLDivElement>(null);
  const { messages, error, isPending, hasNextPage } = useThread(thread);
  const count = messages.length;
  const rows = useVirtualizer({
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => 120,
    overscan: 4,
    getItemKey: (i) => messages[i]!.id,
    // Whoever is at the end stays there; whoever reads above is not moved.
    anchorTo: "end",
    followOnAppend: true,
    scrollEndThreshold: endThreshold,
  });
  const [seen, setSeen] = useState(0); // how many messages there were when the end was last in sight
  const loaded = count > 0 && !hasNextPage;
  useEffect(() => {
    // A chat is read from its end.
    if (loaded) rows.scrollToEnd();
  }, [loaded, rows]);
  const atEnd = rows.isAtEnd(endThreshold);
  useEffect(() => {
    if (!loaded || atEnd) setSeen(count);
  }, [loaded, atEnd, count]);
  const unseen = loaded && !atEnd ? count - seen : 0;
  useShortcuts({ Escape: () => go("conversations"), Enter: () => document.querySelector<HTMLTextAreaElement>(".compose textarea")?.focus() });

  const first = messages[0];
  const asked = messages.findLast((m) => m.to_agent === "human" && m.expects_reply && m.kind !== "reply" && !messages.some((r) => r.message_id === m.id));
  const other = [...messages]
    .reverse()
    .flatMap((m) => [m.from_agent, m.to_agent])
    .find((id) => id && id !== "human" && id !== "system");
  const left = first?.from_agent;
  const participants = [...new Set(messages.flatMap((m) => [m.from_agent, m.to_agent ?? ""]))].filter((id) => id !== "" && id !== "system");
  const send = async (text: string) => {
    setBusy(true);
    try {
      if (asked) await call("human_answer", { message_id: asked.id, response: text, client_key: key.current });
      else if (other) await actAsPerson("send_message", { target: other, message: text, thread: first?.thread || thread, client_key: key.current });
      key.current = clientKey();
      say("Sent");
      await readEnd(client, thread);
      return true;
    } catch (err) {
      sayError(err);
      return false;
    } finally {
      setBusy(false);
    }
  };

  return (
    <section className="page fill view-conversation">
      <Head title={(first && plain(subject(textOf(first)))) || "Conversation"}>
        <span className="switch" role="group" aria-label="Show as">
          <a href={to("conversations", thread)} aria-current={drawn ? undefined : "true"}>
            Chat
          </a>
          <a href={to("conversations", thread, "sequence")} aria-current={drawn ? "true" : undefined}>
            Sequence
          </a>
        </span>
        <a href={to("conversations")}>All conversations</a>
      </Head>
      {count > 0 && (
        <p className="facts1 quiet">
          {participants.map((id, n) => (
            <span key={id}>
              {n > 0 && ", "}
              <Who id={id} />
            </span>
          ))}{" "}
          · {count}
          {hasNextPage ? "+" : ""} {count === 1 ? "message" : "messages"}
        </p>
      )}
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {!isPending && messages.length === 0 && <Empty title="Nothing is left of it">What has ended long ago is trimmed.</Empty>}
      {drawn && loaded && <Sequence thread={first?.thread || thread} count={count} />}
      <div className="scroll" ref={scroller} tabIndex={0} role="list" aria-label="Messages" hidden={drawn}>
        <div className="tall" style={{ height: rows.getTotalSize() }}>
          {rows.getVirtualItems().map((row) => {
            const m = messages[row.index]!;
            return (
              <div
                key={m.id}
                role="listitem"
                ref={rows.measureElement}
                data-index={row.index}
                className={`bubble ${m.from_agent === left ? "" : "right"}`}
                style={{ transform: `translateY(${row.start}px)` }}
              >
                <Bubble message={m} />
              </div>
            );
          })}
        </div>
      </div>
      {unseen > 0 && !drawn && (
        <button className="news" onClick={() => rows.scrollToEnd()}>
          {unseen} new
        </button>
      )}
      {act && !drawn && (asked || other) && (
        <Compose
          label={asked ? answering(asked).label : `Write to ${plain(other ?? "")}`}
          button={asked ? answering(asked).button : "Send"}
          draft={asked ? asked.id : `in ${thread}`}
          busy={busy}
          onSend={send}
        />
      )}
    </section>
  );
}

function Bubble({ message: m }: { message: Message }) {
  return (
    <article>
      <div className="meta">
        <Who id={m.from_agent} />
        <span className="quiet">to</span>
        <Who id={m.to_agent ?? ""} />
        {m.kind && m.kind !== "message" && m.kind !== "reply" && <span className="badge">{plain(m.kind)}</span>}
        {m.status === "error" && <span className="badge bad">error</span>}
        {m.priority === "urgent" && <span className="badge bad">urgent</span>}
        {m.proof && <span className="badge">passkey {plain(m.proof.passkey)}</span>}
        {m.timestamp && <time title={moment(m.timestamp)}>{clock(m.timestamp)}</time>}
      </div>
      {m.goes_back_to && m.from_agent !== "human" && (
        <p className="quiet">
          Goes back to <a href={to("conversations", m.goes_back_to.id)}>what you wrote</a> at{" "}
          <time title={moment(m.goes_back_to.at)}>{clock(m.goes_back_to.at)}</time>,{" "}
          {m.goes_back_to.passkey ? `passkey ${plain(m.goes_back_to.passkey)}` : "by token"}
        </p>
      )}
      {m.body_gone && <p className="quiet">The text was trimmed; the record is still there.</p>}
      {!m.body_gone && (m.kind === "approval" ? <Exact>{textOf(m)}</Exact> : <Body>{textOf(m)}</Body>)}
      {m.context && (
        <details>
          <summary>Background</summary>
          <Text>{m.context}</Text>
        </details>
      )}
      <Files message={m} />
      <Life id={m.id} />
    </article>
  );
}
