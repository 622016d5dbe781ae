import { defineConfig } from "vitest/config";

// `make test-all`: browser tests that wait for minutes.
export default defineConfig({
  test: {
    include: ["e2e/*.long.ts"],
    globalSetup: ["./e2e/server.ts"],
    setupFiles: ["./e2e/leave.ts"],
    testTimeout: 240_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 30_000 } },
    env: { TZ: "UTC" },
  },
});
