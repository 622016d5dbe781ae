// The tour of README.md, where no other test of `make test` goes: the printed link, and a PDF on Verify.
import { expect, test } from "vitest";
import { apiAs, violations } from "./browser";
import { someReport, visit } from "./historyStubs";

test("the link of a demo signs in, and asks for nothing", async () => {
  const sent: Record<string, unknown>[] = [];
  const page = await visit("/setup#token=one-time", {
    before: (p) =>
      p.route("**/api/v1/setup", (route) => {
        if (route.request().method() === "GET") {
          return route.fulfill({ json: { required: true, organizationExists: true, demo: true } });
        }
        sent.push(route.request().postDataJSON());
        return route.fulfill({ status: 201, json: { authenticated: true } });
      }),
  });
  await page.getByRole("navigation", { name: "Main" }).waitFor();
  expect(new URL(page.url()).pathname + new URL(page.url()).hash).toBe("/");
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ setupToken: "one-time", email: "admin@demo.example" });
  expect(String(sent[0]?.password).length).toBeGreaterThanOrEqual(32);
});

test("39 a dropped PDF is known, with its requester and times, or not one of ours when a byte is changed", async () => {
  const ours = await someReport();
  const pdf = Buffer.from(await (await apiAs("admin", "GET", ours.downloadUrl ?? "")).arrayBuffer());
  const page = await visit("/reports/verify");
  const drop = async (name: string, file: Buffer) => {
    const dataTransfer = await page.evaluateHandle(
      ([name, base64]) => {
        const data = new DataTransfer();
        const bytes = Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));
        data.items.add(new File([bytes], name, { type: "application/pdf" }));
        return data;
      },
      [name, file.toString("base64")] as const,
    );
    await page.locator("[data-drop]").dispatchEvent("drop", { dataTransfer });
  };
  await drop("ours.pdf", pdf);
  const known = page.locator('[data-verdict="known"]');
  await known.getByText(`Security: ${ours.scopeLabel}`).waitFor();
  await known.getByText(ours.requester.name).waitFor();
  for (const at of [ours.createdAt, ours.finishedAt ?? ""]) {
    await known.getByText(at.slice("2026-11-20T11".length, "2026-11-20T11:37:02".length)).first().waitFor(); // in any zone
  }
  await known.getByText(ours.file?.sha256 ?? "").waitFor();
  await known.getByText(/^reports:\d+:[0-9a-f]{64}$/).waitFor();
  const changed = Buffer.from(pdf);
  changed[changed.length - 20] = (changed[changed.length - 20] ?? 0) ^ 1;
  await drop("changed.pdf", changed);
  await page.locator('[data-verdict="unknown"]').getByText("Not built by Muster, or changed").waitFor();
  expect(await known.count()).toBe(0);
  expect(await violations(page)).toEqual([]);
});
