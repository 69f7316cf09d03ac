// Asks another agent and waits for its answer.
import { Client, Unanswered, textOf } from "@c3po-dev/client";

const web = await Client.open({ agent: "web" });
try {
  console.log(textOf(await web.ask("api", "Which port does the gateway use?", { signal: AbortSignal.timeout(60_000) })));
} catch (err) {
  if (!(err instanceof Unanswered)) throw err;
  console.log(`${err.message} The question stands: ${err.question}`);
}
await web.close();
