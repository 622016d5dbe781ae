import { expect, test } from "vitest";
import { agents, recipe } from "./snippets";

const at = new Date("2026-11-20T10:00:00.123Z");

test.each(agents.map((a) => a.id))("the snippet for %s has this address and this token once", (agent) => {
  const { steps } = recipe(agent, "https://muster.example.org:8443", "mst_ing_abc", at);
  const all = steps.map((s) => s.text).join("\n");
  expect(all.split("mst_ing_abc")).toHaveLength(2);
  expect(all).toContain("https://muster.example.org:8443/ingest/v1/");
});

test("the snippet for Prometheus has the scheme and the host apart", () => {
  const alerts = recipe("prometheus", "http://10.0.0.5:8080", "t", at).steps[2]?.text;
  expect(alerts).toContain("scheme: http\n");
  expect(alerts).toContain("targets: ['10.0.0.5:8080']");
});

test("the pushed JSON is JSON", () => {
  for (const { text } of recipe("push", "https://m", "t", at).steps) {
    const body = /-d '(.*)'$/s.exec(text)?.[1];
    if (body) expect(() => JSON.parse(body.replaceAll(`'"$NOW"'`, "2026-11-20T10:00:00Z"))).not.toThrow();
  }
});
