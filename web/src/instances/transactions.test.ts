import { expect, it } from "vitest";
import { type Answer, heldBy, type Panel, panels, seriesOf, unsaid, wroteFor } from "./transactions";

const figures: Answer["figures"] = [
  {
    figure: "temporaryBytes",
    state: "notTold",
    since: null,
    sentence: "It does not tell bytes.",
    latest: null,
    greatest: null,
  },
  { figure: "temporaryUsed", state: "ok", since: null, sentence: null, latest: null, greatest: null },
  {
    figure: "oldestTransaction",
    state: "denied",
    since: null,
    sentence: "The account may not see it.",
    latest: null,
    greatest: null,
  },
  {
    figure: "newConnections",
    state: "notMeasured",
    since: null,
    sentence: "No sample says it.",
    latest: null,
    greatest: null,
  },
];

const answer = {
  figures,
  series: {
    temporaryBytes: [null, null],
    temporaryUsed: [0, 5],
    oldestTransaction: [4, null],
    newConnections: [null, null],
    checkpointsTimed: [1, 1],
    checkpointsRequested: [0, 1],
    checkpointWriteMs: [1500, null],
    checkpointBuffers: [7, 3],
  } as Record<string, (number | null)[]>,
} as Answer;

const none: Panel = { title: "", by: "user", format: String, figures: [] };
const panel = (title: string) => panels.find((one) => one.title === title) ?? none;

it("draws only reported figures, with the reason for missing ones", () => {
  const keys = (title: string) => seriesOf(answer, panel(title)).map(({ key }) => key);
  expect(keys("Temporary files")).toEqual(["temporaryUsed"]);
  expect(unsaid(answer, panel("Temporary files"))).toEqual([]); // another figure is told in its place
  expect(keys("Oldest transactions")).toEqual(["oldestTransaction"]);
  expect(unsaid(answer, panel("Oldest transactions"))).toEqual(["The account may not see it."]); // by now
  expect(keys("New connections")).toEqual([]);
  expect(unsaid(answer, panel("New connections"))).toEqual(["No sample says it."]);
});

it("names the session with the oldest transaction and the duration of checkpoints, if known", () => {
  const holder = { session: "17", user: "bill", application: null, client: "::1", database: null, statement: null };
  expect(heldBy({ ...holder, state: "idleInTransaction" })).toBe("session 17 (bill · ::1), idle in transaction");
  expect(heldBy({ ...holder, user: null, client: null, state: "cpu" })).toBe("session 17");
  expect(wroteFor(answer)).toBe("2 were due, 1 were requested. Checkpoints wrote 10 pages, took 1.5 s to write.");
  expect(wroteFor({ ...answer, series: {} })).toBeNull();
});
