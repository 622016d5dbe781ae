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

test("missing figures are named once, and why they are missing is said once", () => {
  expect(named(missing)).toEqual(["CPU", "memory", "alerts", "proof.json"]);
  render(<NotAvailable missing={missing} />, { wrapper: MantineProvider });
  expect(screen.getByRole("status").textContent).toBe(
    `Not available right now: CPU, memory, alerts, proof.json. ${why}`,
  );
});

test("what the page of activity may lack has names", () => {
  const figures = ["cores", "items.name", "items.statement.text"];
  expect(named(figures.map((figure) => ({ figure, code: "unavailable", sentence: why })))).toEqual([
    ...["cores", "names", "texts"],
  ]);
});

test("an answer of which nothing is missing says nothing", () => {
  render(<NotAvailable missing={[]} />, { wrapper: MantineProvider });
  expect(screen.queryByRole("status")).toBeNull();
});
