import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { call } from "../api";
import { plain } from "../plain";
import { Dialog, say, sayError } from "../ui";

// usePause pauses or resumes one agent, or all with the empty id.
export function usePause() {
  const client = useQueryClient();
  return async (agent: string, paused: boolean) => {
    try {
      const result = await call(paused ? "pause" : "resume", agent ? { agent_id: agent } : { all: true });
      const who = agent ? plain(agent) : "Everybody";
      say(result.paused === null ? `${who} is resumed` : `${who} is paused: ${plain(result.paused)}`);
      await Promise.all([
        client.invalidateQueries({ queryKey: ["pause"] }),
        client.invalidateQueries({ queryKey: ["agents"] }),
        client.invalidateQueries({ queryKey: ["agent"] }),
      ]);
    } catch (err) {
      sayError(err);
    }
  };
}

// PauseAll asks first: one click would stop the work of everybody.
export function PauseAll() {
  const pause = usePause();
  const [sure, setSure] = useState(false);
  return (
    <div className="row">
      <button onClick={() => setSure(true)}>Pause all</button>
      <button onClick={() => void pause("", false)}>Resume all</button>
      {sure && (
        <Dialog title="Pause all agents?" onClose={() => setSure(false)}>
          <p>Every agent of this space stops at its next step and reads no mail until you resume it. What is sent to it is kept.</p>
          <div className="row acts">
            <button className="danger" onClick={() => (setSure(false), void pause("", true))}>
              Pause everybody
            </button>
            <button onClick={() => setSure(false)}>Let them work</button>
          </div>
        </Dialog>
      )}
    </div>
  );
}
