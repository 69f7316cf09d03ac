// The modules of the page, outside of a browser.
import { after } from "node:test";
import { createServer } from "vite";

globalThis.window ??= new EventTarget();
globalThis.localStorage ??= { getItem: () => null };

const vite = await createServer({
  configFile: false,
  root: new URL("..", import.meta.url).pathname,
  resolve: { alias: { "@c3po-dev/client": new URL("../../client/typescript/src/index.ts", import.meta.url).pathname } },
  appType: "custom",
  logLevel: "error",
  server: { middlewareMode: true, hmr: false, ws: false },
});
after(() => vite.close());

export const load = (name) => vite.ssrLoadModule(`/src/${name}`);
