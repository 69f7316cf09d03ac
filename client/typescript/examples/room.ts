// Posts in a room and reads it back.
import { Client, textOf } from "@c3po-dev/client";

const build = await Client.open({ agent: "build" });
await build.join("release", "mentions");
await build.post("release", "1.4 is out");
for (const message of (await build.roomHistory({ room: "release" })).rows) console.log(`${message.from_agent}: ${textOf(message)}`);
await build.close();
