import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  // The client is the one that others use, from its sources.
  resolve: { alias: { "@c3po-dev/client": new URL("../client/typescript/src/index.ts", import.meta.url).pathname } },
  build: {
    // The policy of the page forbids data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  // `npm run dev` beside a coordinator of your own.
  server: { proxy: { "/api": "http://localhost:8420", "/metrics": "http://localhost:8420" } },
});
