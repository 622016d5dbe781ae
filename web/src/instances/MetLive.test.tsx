import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { MetLive, NeverMet, untried } from "./MetLive";

const says = (of: React.ReactNode) => render(<MantineProvider>{of}</MantineProvider>).container.textContent;

test("tested versions are named for each engine, and a server has a note only if none was tested", () => {
  expect(says(<MetLive engine="postgresql" />)).toContain("PostgreSQL 13, 14, 15, 16, 17, 18.");
  expect(says(<NeverMet engine="postgresql" />)).not.toContain("live");
  for (const [engine, name] of [
    ["sqlserver", "SQL Server"],
    ["oracle", "Oracle"],
  ] as const) {
    for (const note of [<MetLive key="1" engine={engine} />, <NeverMet key="2" engine={engine} />])
      expect(says(note)).toContain(`has not met a live ${name} yet`);
  }
  expect(says(<MetLive engine="mongodb" />)).not.toContain("live");
});

// C26.
test("a version newer than all tested ones is marked", () => {
  expect(says(<NeverMet engine="postgresql" version="19.0" />)).toContain("19.0 is newer than the newest tried (18)");
  expect(says(<NeverMet engine="postgresql" version="18.4" />)).not.toContain("newer");
  expect(["19", "20beta1", "190001", "PostgreSQL 19.1"].map((v) => untried("postgresql", v))).not.toContain(null);
  expect(["18.4", "150018", "9.6", "", null].map((v) => untried("postgresql", v))).toEqual(Array(5).fill(null));
  expect(untried("oracle", "23.9")).toBeNull();
});
