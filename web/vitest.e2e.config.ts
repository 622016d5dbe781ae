import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/** PagesFirst begins with the file that takes longest, which vitest takes for a short one because its text is: it visits
 * every page there is. Begun last, it has one core at work while the other waits. */
class PagesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]) {
    const sorted = await super.sort(files);
    const pages = sorted.filter((file) => file.moduleId.endsWith("/pages.test.ts"));
    return [...pages, ...sorted.filter((file) => !pages.includes(file))];
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
    sequence: { sequencer: PagesFirst },
    maxWorkers: 3,
    isolate: false,
    testTimeout: 45_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
    env: { TZ: "UTC" },
  },
});
