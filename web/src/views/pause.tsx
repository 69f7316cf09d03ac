import { useQueryClient } from "@tanstack/react-query";
import { call } from "../api";
import { plain } from "../plain";
import { say, sayError } from "../ui";

// usePause pauses or resumes one agent, or all with the empty id.
export function usePause() {
  const client = useQueryClient();
  return async (agent: string, paused: boolean) => {
    try {
      const result = await call<{ paused: string | null }>(paused ? "pause" : "resume", agent ? { agent_id: agent } : { all: true });
      const who = agent ? plain(agent) : "Everybody";
      say(result.paused === null ? `${who} is resumed` : `${who} is paused: ${plain(result.paused)}`);
      await Promise.all([client.invalidateQueries({ queryKey: ["agents"] }), client.invalidateQueries({ queryKey: ["agent"] })]);
    } catch (err) {
      sayError(err);
    }
  };
}

export function PauseAll() {
  const pause = usePause();
  return (
    <div className="row">
      <button onClick={() => void pause("", true)}>Pause all</button>
      <button onClick={() => void pause("", false)}>Resume all</button>
    </div>
  );
}
