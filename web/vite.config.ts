import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

// MUSTER_URL is the server that answers the API while `npm run dev` serves the pages.
const server = process.env.MUSTER_URL ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "dist/app",
    emptyOutDir: true,
    // The content security policy admits no data: but images.
    assetsInlineLimit: 0,
    manifest: true,
    target: "es2022",
  },
  server: {
    host: "127.0.0.1",
    port: 5173,
    strictPort: true,
    proxy: Object.fromEntries(["/api", "/auth", "/docs", "/version", "/assets/icon.svg"].map((path) => [path, { target: server }])),
  },
});
