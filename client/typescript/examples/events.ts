// Follows what happens in the space.
import { Client } from "@c3po-dev/client";

const build = await Client.open({ agent: "build" });
for await (const { event, start } of build.events()) {
  if (start) {
    void Client.open({ agent: "newcomer" }); // so that something happens
    continue;
  }
  console.log(`${event?.agent} ${event?.kind}`);
  break;
}
await build.close();
