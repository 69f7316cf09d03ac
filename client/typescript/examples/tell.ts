// Sends what needs no answer, and shows what a refusal says.
import { C3poError, Client } from "@c3po-dev/client";

const build = await Client.open({ agent: "build" });
try {
  const receipt = await build.tell("api", "main is green again");
  console.log(`stored in ${receipt.durability}`);
} catch (err) {
  if (!(err instanceof C3poError) || err.code !== "AGENT_NOT_FOUND") throw err;
  console.log(`nobody is called api; repeat it: ${err.isRetrySafe}`);
}
await build.close();
