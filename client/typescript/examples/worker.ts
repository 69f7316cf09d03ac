// An agent that works off a queue: it takes one task at a time and answers it. Start as many as you like, each under
// another name, and give them work: c3po send role:check "Is the build green?" --wait 1m
import { Client, textOf } from "@c3po-dev/client";

const stop = new AbortController();
process.on("SIGINT", () => stop.abort());
const agent = await Client.open({ agent: process.argv[2] ?? "checker-1", capabilities: ["check"] });
await agent.serve(
  (task) => {
    console.log(task.id);
    return `checked: ${textOf(task)}`;
  },
  { signal: stop.signal },
);
await agent.close();
