import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { type Instance, partlyMeasured, Standing } from "./standing";
import { statuses } from "./states";

const part = (name: "statements" | "assessment", state: "ok" | "failed") =>
  ({ part: name, database: null, state, since: null, code: null, sentence: null }) as const;

const shown = (i: Partial<Instance>) =>
  renderToStaticMarkup(createElement(Standing, { instance: { statusReason: null, ...i } as Instance }));

// F1.
test.each(statuses)("a server that is %s has an icon and a word, and only one that is up is green", (status) => {
  const html = shown({ status, lastError: "refused", lastSeenAt: new Date().toISOString() });
  expect(html).toContain("<svg");
  expect(html.toLowerCase()).toContain(`<span>${status}</span>`);
  expect(html.includes('data-tone="good"')).toBe(status === "up");
});

test("a server that is down because it is full shows the reason", () => {
  expect(shown({ status: "down", statusReason: { code: "53300", sentence: "", seen: "", said: null } })).toContain(
    "Down, full",
  );
  expect(shown({ status: "unknown", statusReason: { code: "53300", sentence: "", seen: "", said: null } })).toContain(
    ">Unknown<",
  );
});

test("a server that is up is measured in part only if a measured part fails", () => {
  const of = (status: Instance["status"], ...parts: Instance["parts"]) => partlyMeasured({ status, parts } as Instance);
  expect(of("up", part("statements", "failed"))).toBe(true);
  expect(of("up", part("statements", "ok"), part("assessment", "failed"))).toBe(false);
  expect(of("down", part("statements", "failed"))).toBe(false);
});
