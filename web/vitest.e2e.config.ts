import { basename } from "node:path";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * The files that take longest, and before them two that wait for a minute: for a schedule that is due, and for a server
 * that is down. vitest takes them for short ones; begun last, they have one core at work while the other waits.
 */
const longest = ["states", "schedules", "shell", "instances", "notify", "dashboard"];

class LongFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const place = ({ moduleId }: TestSpecification) => {
      const at = longest.indexOf(basename(moduleId, ".test.ts"));
      return at < 0 ? longest.length : at;
    };
    return (await super.sort(files)).sort((a, b) => place(a) - place(b));
  }
}

// Browser tests: the built pages, served by the real binary with the demo organization.
// Four files at a time, on two cores: a test waits for the page as often as it computes. A worker keeps its browser from
// one file to the next.
export default defineConfig({
  test: {
    include: ["e2e/**/*.test.ts"],
    globalSetup: ["./e2e/server.ts"],
    setupFiles: ["./e2e/leave.ts"],
    sequence: { sequencer: LongFirst },
    maxWorkers: 4,
    isolate: false,
    testTimeout: 90_000,
    hookTimeout: 60_000,
    // Each look is a message to the browser and back: twice as many cost more than what is seen a moment later.
    expect: { poll: { timeout: 15_000, interval: 100 } },
    env: { TZ: "UTC" },
  },
});
