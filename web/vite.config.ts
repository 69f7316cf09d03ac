import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

export default defineConfig({
  plugins: [react()],
  build: {
    // The policy of the page forbids data: addresses.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2022",
  },
  // `npm run dev` beside a coordinator of your own.
  server: { proxy: { "/api": "http://localhost:8420", "/metrics": "http://localhost:8420" } },
});
