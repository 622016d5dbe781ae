import { defineConfig } from "vitest/config";

// Browser tests: the built pages, served by the real binary with the demo organization.
// One file after the other: they share a server and two cores.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    globalSetup: ["./e2e/server.ts"],
    fileParallelism: false,
    testTimeout: 45_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    env: { TZ: "UTC" },
  },
});
