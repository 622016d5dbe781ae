import { expect, test } from "vitest";
import type { Schemas } from "../api/client";
import { inAll } from "./outcome";

const item = (detail?: string): Schemas["ActedOnOne"] => ({
  id: crypto.randomUUID(),
  done: detail === undefined,
  problem: detail === undefined ? null : { status: 409, code: "invalid_state", title: "", detail },
});

test("the result of an action on many alerts has one sentence for each reason", () => {
  expect(inAll("mute", [item()])).toBe("1 alert muted.");
  expect(inAll("resolve", [item(), item(), item()])).toBe("3 alerts resolved.");
  expect(inAll("mute", [item(), item("The alert is muted already."), item("The alert is muted already.")])).toBe(
    "1 of 3 alerts muted. 2 were not: The alert is muted already.",
  );
  expect(inAll("acknowledge", [item("The alert is Resolved."), item("The alert is Acknowledged.")])).toBe(
    "2 were not: The alert is Resolved. The alert is Acknowledged.",
  );
});
