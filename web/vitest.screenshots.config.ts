import { defineConfig } from "vitest/config";

// `make screenshots`: every page as a picture, into MUSTER_SCREENSHOTS.
export default defineConfig({
  test: {
    include: ["e2e/screenshots.ts"],
    globalSetup: ["./e2e/server.ts"],
    testTimeout: 600_000,
    env: { TZ: "UTC" },
  },
});
