import { MantineProvider } from "@mantine/core";
import { render, screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { NotAvailable, named } from "./NotAvailable";

const why = "A server that older measurements are kept on is not responding.";
const missing = [
  "health.cpuPercent",
  "health.memoryPercent",
  "health.openAlerts",
  "health.criticalAlerts",
  "proof.json",
].map((figure) => ({ figure, code: "unavailable", sentence: why }));

test("missing figures are named once, with the reason once", () => {
  expect(named(missing)).toEqual(["CPU", "memory", "alerts", "proof.json"]);
  render(<NotAvailable missing={missing} />, { wrapper: MantineProvider });
  expect(screen.getByRole("status").textContent).toBe(
    `Not available right now: CPU, memory, alerts, proof.json. ${why}`,
  );
});

test("missing parts of the activity page have names", () => {
  const figures = ["cores", "items.name", "items.statement.text"];
  expect(named(figures.map((figure) => ({ figure, code: "unavailable", sentence: why })))).toEqual([
    ...["cores", "names", "texts"],
  ]);
});

test("a complete answer shows nothing", () => {
  render(<NotAvailable missing={[]} />, { wrapper: MantineProvider });
  expect(screen.queryByRole("status")).toBeNull();
});
