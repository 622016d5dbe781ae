import { defineConfig } from "vitest/config";

// Browser tests: the built pages, served by the real binary with the demo organization.
// Two files at a time: they share a server and two cores.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    globalSetup: ["./e2e/server.ts"],
    maxWorkers: 2,
    testTimeout: 45_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    env: { TZ: "UTC" },
  },
});
