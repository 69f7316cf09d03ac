import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef, useState } from "react";
import { act as actAsPerson, call, clientKey } from "../api";
import { useNow, useQuestions } from "../data";
import { useKept } from "../kept";
import { useShortcuts } from "../keys";
import { place } from "../list";
import { ago, due, moment } from "../plain";
import { to } from "../route";
import { mayAct, useSession } from "../session";
import { Compose, Empty, Head, Id, say, sayError, Text, Trouble } from "../ui";
import { textOf } from "../mail";
import type { Message } from "../wire";
import "./Questions.css";
import { PauseAll, usePause } from "./pause";

export function Questions() {
  const { data, error, isPending } = useQuestions();
  const act = mayAct(useSession());
  const [chosenID, setChosenID] = useKept("chosen question", "");
  const list = useRef<HTMLOListElement>(null);
  const questions = data ?? [];
  const lastPlace = useRef(0);
  const chosen = place(
    questions.map((q) => q.id),
    chosenID,
    lastPlace.current,
  );
  useEffect(() => {
    lastPlace.current = chosen;
  });
  const card = (n: number) => list.current?.children[n] as HTMLElement | undefined;
  const move = (by: number) => {
    const next = Math.max(0, Math.min(questions.length - 1, chosen + by));
    setChosenID(questions[next]?.id ?? "");
    card(next)?.focus();
  };
  useShortcuts({
    j: () => move(1),
    k: () => move(-1),
    Enter: () => card(chosen)?.querySelector("textarea")?.focus(),
    p: () => card(chosen)?.querySelector<HTMLButtonElement>("button[data-pause]")?.click(),
    ...Object.fromEntries(
      [1, 2, 3, 4, 5, 6, 7, 8, 9].map((n) => [String(n), () => card(chosen)?.querySelectorAll<HTMLButtonElement>("button[data-choice]")[n - 1]?.click()]),
    ),
  });
  return (
    <section className="page view-questions">
      <Head title="Questions">{act && <PauseAll />}</Head>
      {error && <Trouble err={error} />}
      {isPending && !error && <p className="quiet">Loading …</p>}
      {data && questions.length === 0 && <Empty title="Nobody waits for you">When an agent asks for a decision, it is here at once.</Empty>}
      <ol className="cards" ref={list}>
        {questions.map((q, n) => (
          <Question key={q.id} question={q} chosen={n === chosen} onChoose={() => setChosenID(q.id)} />
        ))}
      </ol>
    </section>
  );
}

function Question({ question: q, chosen, onChoose }: { question: Message; chosen: boolean; onChoose: () => void }) {
  const client = useQueryClient();
  const act = mayAct(useSession());
  const now = useNow();
  const [busy, setBusy] = useState(false);
  const pause = usePause();
  // The same key for every try: a repeat never answers twice.
  const key = useRef(clientKey());
  const asker = q.from_agent ?? "";
  const asks = q.kind === "escalation" || q.expects_reply;
  const settle = async (what: () => Promise<unknown>, done: string): Promise<boolean> => {
    setBusy(true);
    try {
      await what();
      say(done);
      await client.invalidateQueries({ queryKey: ["questions"] });
      return true;
    } catch (err) {
      sayError(err);
      return false;
    } finally {
      setBusy(false);
    }
  };
  const answer = (text: string) => settle(() => call("human_answer", { message_id: q.id, response: text, client_key: key.current }), `Answered ${asker}`);
  const choose = (choice: string) => settle(() => call("human_answer", { message_id: q.id, choice, client_key: key.current }), `Answered ${asker}`);
  const choices = q.choices ?? [];
  useEffect(() => {
    key.current = clientKey();
  }, [q.id]);
  return (
    <li className={`card ${chosen ? "chosen" : ""}`} tabIndex={-1} onFocus={onChoose} aria-label={`From ${asker}`}>
      <div className="meta">
        <a href={to("agents", asker)}>
          <Id>{asker}</Id>
        </a>
        <span className={q.kind === "escalation" ? "badge wait" : "badge"}>{q.kind === "escalation" ? "asks you" : "wrote to you"}</span>
        {q.priority === "urgent" && <span className="badge bad">urgent</span>}
        {q.deadline && (
          <span className="quiet" title={moment(q.deadline)}>
            {due(q.deadline, now)}
          </span>
        )}
        <time title={moment(q.timestamp)}>{ago(q.timestamp, now)}</time>
      </div>
      {textOf(q) !== "" && <Text>{textOf(q)}</Text>}
      {q.context && (
        <details>
          <summary>Background</summary>
          <Text>{q.context}</Text>
        </details>
      )}
      {act && asks && (
        <>
          {choices.length > 0 && (
            <div className="row choices">
              {choices.map((c, n) => (
                <button key={c} data-choice disabled={busy} onClick={() => void choose(c)}>
                  <kbd>{n + 1}</kbd> <Id>{c}</Id>
                </button>
              ))}
            </div>
          )}
          <Compose label={`Answer ${asker}`} button="Answer" draft={q.id} busy={busy} onSend={answer} />
        </>
      )}
      <div className="row acts">
        <a href={to("conversations", q.thread || q.id)}>Conversation</a>
        {act && !asks && (
          <button className="link" disabled={busy} onClick={() => void settle(() => actAsPerson("ack_messages", { message_ids: [q.id] }), "Dealt with")}>
            Dealt with
          </button>
        )}
        {act && asker && asker.includes("#") === false && (
          <button className="link" data-pause disabled={busy} onClick={() => void pause(asker, true)}>
            Pause {asker}
          </button>
        )}
      </div>
    </li>
  );
}
