import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { type Answering, send, undo, useAnswering, whenSent } from "../answers";
import { useNow } from "../data";
import { useShortcuts } from "../keys";
import { decided } from "../mail";
import { plain } from "../plain";
import { say, sayError } from "../ui";
import "./Undo.css";

// Undo shows the answers that are about to be sent.
export function Undo() {
  const client = useQueryClient();
  const waiting = useAnswering().filter((o) => !o.sent);
  useEffect(
    () =>
      whenSent((one, err) => {
        if (err) sayError(err);
        else say(decided(one.question, one.text, one.choice));
        void client.invalidateQueries({ queryKey: ["questions"] });
      }),
    [client],
  );
  useShortcuts({ u: () => waiting.length > 0 && undo(waiting.at(-1)!) });
  if (waiting.length === 0) return null;
  return (
    <div className="view-undo" role="status">
      {waiting.map((one) => (
        <Line key={one.key} one={one} />
      ))}
    </div>
  );
}

function Line({ one }: { one: Answering }) {
  const now = useNow(250);
  return (
    <p>
      <span className="what">{`Answering ${plain(one.question.from_agent)}: ${plain(one.text.split("\n", 1)[0] ?? "")}`}</span>
      <span className="left">{Math.max(0, Math.ceil((one.at - now) / 1000))} s</span>
      <button onClick={() => undo(one)} title="u">
        Undo
      </button>
      <button onClick={() => void send(one)}>Send now</button>
    </p>
  );
}
