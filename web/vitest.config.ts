import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  server: { fs: { allow: [".", "../internal/assessment", "../internal/intake/measure", "../internal/servers"] } },
  test: {
    environment: "happy-dom",
    // A document for each file, but the code is loaded once a worker: loading it for each file took three times as long.
    isolate: false,
    include: ["src/**/*.test.{ts,tsx}"],
    setupFiles: ["./vitest.setup.ts"],
    // Zones differ from one machine to the next, and with them what a time looks like.
    env: { TZ: "UTC" },
  },
});
