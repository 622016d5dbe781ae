import { defineConfig } from "vitest/config";

// Browser tests: the built pages, served by the real binary with the demo organization.
// Three files at a time, on two cores: a test waits for the page as often as it computes. A worker keeps its browser from
// one file to the next.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    globalSetup: ["./e2e/server.ts"],
    setupFiles: ["./e2e/leave.ts"],
    maxWorkers: 3,
    isolate: false,
    testTimeout: 45_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    env: { TZ: "UTC" },
  },
});
