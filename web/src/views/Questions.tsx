import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { answer } from "../answers";
import { Body, Exact } from "../Body";
import { act as actAsPerson, call } from "../api";
import { useAnyAgent, useNeeds, useNow, useStuck } from "../data";
import { useKept } from "../kept";
import { useShortcuts } from "../keys";
import { place } from "../list";
import { allowOnce, answering, asking, dressed, textOf } from "../mail";
import { subject } from "../markdown";
import { behindEach, countdown, sorted, stateOfThings } from "../needs";
import { ago, exact, moment, plain } from "../plain";
import { to } from "../route";
import { mayAct, useSession } from "../session";
import { useSeen } from "../seen";
import { useSteady } from "../steady";
import { Compose, Empty, Head, Id, InOrder, say, sayError, Text, Trouble } from "../ui";
import type { Message } from "@c3po-dev/client";
import "./Questions.css";
import { PauseAll, usePause } from "./pause";

const besideFirst = 6; // cards with background from the start; the others when they are chosen

// Questions is what needs the person. With wanted, it opens at that question.
export function Questions({ wanted }: { wanted: string | undefined }) {
  const { data, error, isPending, questions: unsorted, informing } = useNeeds();
  const act = mayAct(useSession());
  const anyAgent = useAnyAgent();
  const now = useNow(1000);
  const behind = behindEach(useStuck().data);
  const [chosenID, setChosenID] = useKept("chosen question", "");
  const list = useRef<HTMLOListElement>(null);
  const questions = sorted(unsorted, behind);
  const lastPlace = useRef(0);
  const ids = questions.map((q) => q.id);
  const steady = useSteady(data && ids);
  const chosen = place(ids, chosenID, lastPlace.current);
  useEffect(() => {
    lastPlace.current = chosen;
  });
  const card = (n: number) => list.current?.children[n] as HTMLElement | undefined;
  const found = wanted !== undefined && ids.includes(wanted);
  useEffect(() => {
    if (!found) return;
    setChosenID(wanted);
    const at = list.current?.querySelector<HTMLElement>(`[data-id="${CSS.escape(wanted)}"]`);
    at?.focus();
    at?.scrollIntoView({ block: "center" });
  }, [found, wanted, setChosenID]);
  const move = (by: number) => {
    const next = Math.max(0, Math.min(questions.length - 1, chosen + by));
    setChosenID(ids[next] ?? "");
    card(next)?.focus();
  };
  const press = (selector: string, n = 0) => card(chosen)?.querySelectorAll<HTMLButtonElement>(selector)[n]?.click();
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => card(chosen)?.querySelector("textarea")?.focus(),
    p: () => press("button[data-pause]"),
    ...Object.fromEntries([1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [String(n), () => press("button[data-choice]", n - 1)])),
  });
  return (
    <section className="page view-questions">
      <Head title="Questions">{act && <PauseAll />}</Head>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {questions.length > 0 && <p className="state">{stateOfThings(questions, behind, now)}</p>}
      {wanted !== undefined && data && !found && <p className="quiet">The question you followed a link to is no longer open.</p>}
      {data &&
        questions.length === 0 &&
        (anyAgent ? (
          <Empty title="Nobody waits for you">When an agent asks for a decision, it is here at once.</Empty>
        ) : (
          <Empty title="Nobody waits for you" command="c3po claude">
            There are no agents yet. Start one in the folder of a project:
          </Empty>
        ))}
      <ol className="cards" ref={list}>
        {questions.map((q, n) => (
          <Question
            key={q.id}
            question={q}
            behind={behind.get(q.id) ?? 0}
            now={now}
            chosen={n === chosen}
            steady={steady}
            beside={n < besideFirst || n === chosen}
            onChoose={() => setChosenID(q.id)}
          />
        ))}
      </ol>
      {informing.length > 0 && <Informing messages={informing} act={act} now={now} />}
    </section>
  );
}

interface Asked {
  question: Message;
  behind: number;
  now: number;
  chosen: boolean;
  steady: boolean; // a click on a choice is meant for this question
  beside: boolean;
  onChoose: () => void;
}

function Question({ question: q, behind, now, chosen, steady, beside, onChoose }: Asked) {
  const act = mayAct(useSession());
  const pause = usePause();
  const asker = q.from_agent;
  const left = countdown(q.deadline, now);
  const choices = q.choices ?? [];
  const [seen, end] = useSeen();
  // Nobody allows what they have not seen to its end.
  const ready = (choice: string) => steady && (seen || q.kind !== "approval" || choice !== allowOnce);
  return (
    <li className={`card ${chosen ? "chosen" : ""} ${left?.urgency ?? ""}`} data-id={q.id} tabIndex={-1} onFocus={onChoose} aria-label={`From ${plain(asker)}`}>
      <div className="asked">
        <div className="meta">
          <a href={to("agents", asker)}>
            <Id>{asker}</Id>
          </a>
          <span className={q.kind === "approval" ? "badge pending" : "badge"}>{asking(q)}</span>
          {left && (
            <span className={`chip ${left.urgency}`} title={moment(q.deadline)}>
              {left.text}
            </span>
          )}
          {q.priority === "urgent" && <span className="badge bad">urgent</span>}
          {behind > 0 && (
            <a className="chip" href={to("waiting")}>
              {behind} {behind === 1 ? "waits" : "wait"} behind it
            </a>
          )}
          <time title={moment(q.timestamp)}>{ago(q.timestamp, now)}</time>
        </div>
        {q.kind === "approval" ? <Exact end={end}>{textOf(q)}</Exact> : textOf(q) !== "" && <Body>{textOf(q)}</Body>}
        {dressed(q) && <p className="quiet">This is a question. No answer to it allows a tool.</p>}
        {act && choices.length > 0 && (
          <div className="row choices">
            {choices.map((c, n) => (
              <button key={c} data-choice aria-disabled={!ready(c)} onClick={() => ready(c) && answer(q, c, true)}>
                <kbd>{n + 1}</kbd> <Id>{c}</Id>
              </button>
            ))}
            {q.kind === "approval" && !seen && <span className="quiet">Scroll to the end of it to allow it</span>}
          </div>
        )}
        {act && (
          <Compose
            {...answering(q)}
            draft={q.id}
            busy={false}
            onSend={(text) => {
              answer(q, text, false);
              return Promise.resolve(true);
            }}
          />
        )}
        <div className="row acts">
          <a href={to("conversations", q.thread || q.id)}>Conversation</a>
          {act && asker && !asker.includes("#") && (
            <button className="link" data-pause onClick={() => void pause(asker, true)}>
              Pause {plain(asker)}
            </button>
          )}
        </div>
      </div>
      <Beside question={q} read={beside} now={now} />
    </li>
  );
}

// Beside is what a person needs to know to decide.
function Beside({ question: q, read, now }: { question: Message; read: boolean; now: number }) {
  const known = read && q.from_agent !== "system";
  const agent = useQuery({
    queryKey: ["asker", q.from_agent],
    queryFn: () => call("get_agent_status", { agent_id: q.from_agent }),
    enabled: known,
    staleTime: 60_000,
  });
  const recent = useQuery({
    queryKey: ["recent", q.from_agent, q.id],
    queryFn: () => call("recent", { agent_id: q.from_agent, limit: 4 }),
    enabled: known,
    staleTime: 60_000,
  });
  const before = (recent.data?.rows ?? []).filter((m) => m.id !== q.id).slice(-3);
  const facts: [string, string][] = [
    ["Task", agent.data?.current_task ?? ""],
    ["Folder", agent.data?.cwd ?? ""],
  ];
  const shown = facts.filter(([, value]) => value !== "");
  if (!q.context && shown.length === 0 && before.length === 0) return null;
  return (
    <aside aria-label="Background">
      {q.context && (
        <>
          <h2>Why it asks</h2>
          <Text>{q.context}</Text>
        </>
      )}
      {shown.length > 0 && (
        <dl className="facts">
          {shown.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <bdi dir={name === "Folder" ? "ltr" : "auto"}>
                  <InOrder>{plain(value)}</InOrder>
                </bdi>
              </dd>
            </div>
          ))}
        </dl>
      )}
      {before.length > 0 && (
        <>
          <h2>Its last messages</h2>
          <ul className="before">
            {before.map((m) => (
              <li key={m.id}>
                <a href={to("conversations", m.thread || m.id)}>
                  <span className="quiet">
                    {m.from_agent === q.from_agent ? `to ${plain(m.to_agent ?? "")}` : `from ${plain(m.from_agent)}`}, {ago(m.timestamp, now)}
                  </span>
                  <span className="line1" dir={m.kind === "approval" ? "ltr" : "auto"}>
                    {m.kind === "approval" ? <InOrder>{exact(subject(textOf(m)))}</InOrder> : plain(subject(textOf(m)))}
                  </span>
                </a>
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  );
}

// Informing is mail that waits for nothing. It is folded.
function Informing({ messages, act, now }: { messages: Message[]; act: boolean; now: number }) {
  const client = useQueryClient();
  const [busy, setBusy] = useState(false);
  const settle = async (ids: string[]) => {
    setBusy(true);
    try {
      await actAsPerson("ack_messages", { message_ids: ids });
      say(ids.length === 1 ? "Dealt with" : `${ids.length} dealt with`);
      await client.invalidateQueries({ queryKey: ["questions"] });
    } catch (err) {
      sayError(err);
    } finally {
      setBusy(false);
    }
  };
  return (
    <details className="informing">
      <summary>
        {messages.length} {messages.length === 1 ? "message" : "messages"} for your information
      </summary>
      {act && messages.length > 1 && (
        <button disabled={busy} onClick={() => void settle(messages.map((m) => m.id))}>
          All dealt with
        </button>
      )}
      <ul>
        {messages.map((m) => (
          <li key={m.id} className="card">
            <div className="meta">
              <a href={to("agents", m.from_agent)}>
                <Id>{m.from_agent}</Id>
              </a>
              <time title={moment(m.timestamp)}>{ago(m.timestamp, now)}</time>
            </div>
            <Text>{textOf(m)}</Text>
            <div className="row acts">
              <a href={to("conversations", m.thread || m.id)}>Conversation</a>
              {act && (
                <button className="link" disabled={busy} onClick={() => void settle([m.id])}>
                  Dealt with
                </button>
              )}
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}
