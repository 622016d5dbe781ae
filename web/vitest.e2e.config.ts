import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** LongFirst begins with the files that take long, which vitest takes for short ones. Begun last, they have one core at work while the other waits. */
class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    const long = sorted.filter((file) => /\/(shell|dashboard)\.test\.ts$/.test(file.moduleId));
    return [...long, ...sorted.filter((file) => !long.includes(file))];
  }
}

// Browser tests: the built pages, served by the real binary with the demo organization.
// Three files at a time, on two cores: a test waits for the page as often as it computes. A worker keeps its browser from
// one file to the next.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    globalSetup: ["./e2e/server.ts"],
    setupFiles: ["./e2e/leave.ts"],
    sequence: { sequencer: LongFirst },
    maxWorkers: 3,
    isolate: false,
    testTimeout: 90_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    env: { TZ: "UTC" },
  },
});
