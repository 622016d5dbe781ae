import { MantineProvider } from "@mantine/core";
import { render } from "@testing-library/react";
import { expect, test } from "vitest";
import { MetLive, NeverMet } from "./MetLive";

const says = (of: React.ReactNode) => render(<MantineProvider>{of}</MantineProvider>).container.textContent;

test("what was met live is said of each engine, and of a server only where nothing was", () => {
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
