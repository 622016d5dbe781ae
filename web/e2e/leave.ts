// Run before each test file (setupFiles): the hook is every file's, where browser.ts is loaded once a worker.
import { afterEach } from "vitest";
import { leave } from "./browser";

afterEach(leave);
