// Answers what it is asked.
import { Client, textOf } from "@c3po-dev/client";

const stop = new AbortController();
const api = await Client.open({ agent: "api" });
await api.serve(
  (message) => {
    console.log(`${message.from_agent} asks: ${textOf(message)}`);
    stop.abort(); // this one is enough
    return "8443";
  },
  { signal: stop.signal },
);
await api.close();
