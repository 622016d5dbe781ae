import { expect, test } from "vitest";
import { upgradeOf, whatOf } from "./Groups";

const check = { id: "PG-S31", title: "", domain: "", severity: "High" as const, references: [] };

test("F10: a group is counted in words, and names the fix", () => {
  const three = {
    findings: 48,
    instances: 3,
    checks: 1,
    unit: "CVE",
    check,
    upgrades: [{ to: "15.20", closes: 48, instances: 3 }],
  };
  expect(whatOf(three)).toBe("3 servers, 48 CVEs");
  expect(upgradeOf(three)).toBe("Upgrade to 15.20 closes all 48");
  expect(
    upgradeOf({
      findings: 9,
      upgrades: [
        { to: "15.20", closes: 3, instances: 1 },
        { to: "14.23", closes: 2, instances: 1 },
      ],
    }),
  ).toBe("Upgrades to 15.20, 14.23 close 5");
  expect(upgradeOf({ findings: 9, upgrades: [] })).toBeNull();
  expect(whatOf({ ...three, unit: "finding", findings: 3 })).toBe("3 servers");
  expect(whatOf({ ...three, check: null, checks: 2, findings: 5, unit: "finding" })).toBe("2 checks, 5 findings");
});
