// The history of reports, one report, and a PDF in hand: checklist 31, 33, 35, 36 and 39.
import type { Page } from "playwright-core";
import { describe, expect, test } from "vitest";
import { apiAs, requestsTo, violations } from "./browser";
import {
  type Answer,
  historyPath,
  pageOf,
  patient,
  type Report,
  refused,
  report,
  requested,
  stub,
  trayOf,
  trayPath,
  visit,
} from "./historyStubs";
import { takenIn, watchAnswers } from "./taken";

test("31 a new request is the first row, without a reload", async () => {
  const page = await visit("/reports/history", { as: "member" });
  await page.locator("[data-report]").first().waitFor();
  await page.evaluate(() => Object.assign(window, { sameDocument: true }));
  await page.getByRole("link", { name: "Catalog" }).click();
  await page.getByRole("heading", { level: 1, name: "Reports" }).waitFor();
  const fresh = await requested("member");
  await page.getByRole("link", { name: "History", exact: true }).click();
  await page.locator(`tbody tr:first-child[data-report="${fresh.id}"]`).waitFor();
  expect(await page.evaluate(() => "sameDocument" in window)).toBe(true);
});

describe("33 polling only while needed", () => {
  /** polled opens the history with a stubbed list, and stops the page's clock at one of its polls. */
  async function polled(expected: RegExp[] = []) {
    const said: { answer: Answer } = { answer: pageOf([report(1, "Building")], 1) };
    let list = { asked: 0 };
    const page = await visit("/reports/history", {
      expected,
      before: async (page) => {
        await page.clock.install();
        await watchAnswers(page);
        list = await stub(page, historyPath, () => said.answer);
        await stub(page, trayPath, () => trayOf([]));
      },
    });
    await page.getByText("Step 2 of 3: Keeping the inputs").waitFor();
    // Far enough ahead that a busy machine is not past it before it is told.
    await page.clock.pauseAt((await page.evaluate(() => Date.now())) + 60_000);
    await takenIn(page);
    const before = list.asked;
    await pass(page, 6, () => list.asked > before);
    expect(list.asked).toBe(before + 1);
    return { page, list, said };
  }

  /** pass lets seconds go by on the page's clock, in steps, each after the page has taken in what it had asked. */
  async function pass(page: Page, seconds: number, until = () => false) {
    const step = seconds > 15 ? 1_000 : 500;
    for (let past = 0; past < seconds * 1_000 && !until(); past += step) {
      await page.clock.runFor(step);
      await takenIn(page);
    }
  }

  test("every 5 s while something is built, and no more when all is over", async () => {
    const { page, list, said } = await polled();
    const start = list.asked;
    await pass(page, 4);
    expect(list.asked).toBe(start);
    await pass(page, 2);
    expect(list.asked).toBe(start + 1);
    said.answer = pageOf([report(1, "Ready"), report(2, "Failed"), report(3, "Expired")], 1);
    await pass(page, 6, () => list.asked > start + 1);
    await page.clock.runFor(500);
    await page.getByText("Ready", { exact: true }).last().waitFor();
    const end = list.asked;
    await pass(page, 20);
    expect(list.asked).toBe(end);
  });

  test("not in a hidden tab, and at once when it is looked at again", async () => {
    const { page, list } = await polled();
    const show = (state: string) =>
      page.evaluate((state) => {
        Object.defineProperty(document, "visibilityState", { configurable: true, get: () => state });
        document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
      }, state);
    const start = list.asked;
    await show("hidden");
    await pass(page, 12);
    expect(list.asked).toBe(start);
    await show("visible");
    await pass(page, 1);
    expect(list.asked).toBe(start + 1);
    await pass(page, 3);
    expect(list.asked).toBe(start + 1);
    await pass(page, 2);
    expect(list.asked).toBe(start + 2);
  });

  test("after 10 and 20 s when the server fails, and not before Retry-After", async () => {
    const { page, list, said } = await polled([refused(503)]);
    said.answer = { status: 503 };
    const next = async (early: number, late: number) => {
      const start = list.asked;
      await pass(page, early);
      expect(list.asked, `within ${early} s`).toBe(start);
      await pass(page, late - early, () => list.asked > start);
      expect(list.asked, `within ${late} s`).toBe(start + 1);
    };
    await next(4, 6);
    // what the page shows, it shows a moment of its clock after the answer came in
    const stale = page.getByText("The list may be out of date");
    await expect.poll(() => page.clock.runFor(10).then(() => stale.count())).toBe(1);
    await next(9, 11);
    said.answer = { status: 503, headers: { "Retry-After": "30" } };
    await next(19, 21);
    // the third failure in a row waits 40 s; Retry-After says less and hastens nothing
    said.answer = { status: 503, headers: { "Retry-After": "90" } };
    await next(39, 41);
    said.answer = pageOf([report(1, "Building")], 1);
    await next(88, 91);
    await next(4, 6);
  });
});

test("35 each row says what its state means", async () => {
  const instance = "0199f0d2-7a10-7c44-9b0e-00000000abcd";
  const failed = report(4, "Failed", { scope: { instanceIds: [instance], databaseId: null, from: null, to: null } });
  const rows = [report(1, "Queued"), report(2, "Building"), report(3, "Ready"), failed, report(5, "Expired")];
  const page = await visit("/reports/history", {
    before: async (page) => {
      await stub(page, historyPath, () => pageOf(rows, 1));
    },
  });
  const row = (n: number) => page.getByRole("row").filter({ hasText: `Report ${n}` });
  await row(1).getByText("Queued").waitFor();
  await row(1)
    .getByText(/waiting 1 min \d+ s/)
    .waitFor();
  await row(2).getByText("Processing").waitFor();
  await row(2).getByRole("progressbar", { name: "Step 2 of 3: Keeping the inputs" }).waitFor();
  await row(2)
    .getByText(/^1 min \d+ s$/)
    .waitFor();
  expect(await row(3).getByRole("link", { name: "Download security-3.pdf" }).getAttribute("href")).toBe(
    rows[2]?.downloadUrl,
  );
  await row(3).getByText("security-3.pdf · 403 KB · 14 pages · expires in 29 days").waitFor();
  await row(4).getByText("The PDF could not be rendered. Request it again.").waitFor();
  await row(4).getByText("render_failed").waitFor();
  await row(5).getByText("No longer available, expired 2 days ago.").waitFor();
  await row(5).getByRole("link", { name: "Request again" }).waitFor();
  for (const n of [1, 2, 4, 5])
    expect(
      await row(n)
        .getByRole("link", { name: /Download/ })
        .count(),
    ).toBe(0);
  await row(4).getByRole("link", { name: "Request again" }).click();
  await page.waitForURL((url) => url.pathname === "/reports/view");
  const address = new URL(page.url());
  expect(address.searchParams.get("kind")).toBe("Security");
  expect(address.searchParams.getAll("instanceId")).toEqual([instance]);
});

test("35 viewers are told why a report is not theirs, and request nothing", async () => {
  const notTheirs = report(1, "Ready", { downloadUrl: null, capabilities: { canDownload: false } });
  const page = await visit("/reports/history", {
    as: "viewer",
    before: async (page) => {
      await stub(page, historyPath, () => pageOf([notTheirs, report(2, "Failed")], 1));
    },
  });
  await page.getByText("Viewers can only download reports they receive.").waitFor();
  await page.getByText("render_failed").waitFor();
  expect(await page.getByRole("link", { name: /Download sec|Request/ }).count()).toBe(0);
});

test("36 pages of 20 with totals, which a new row does not move", async () => {
  let rows = Array.from({ length: 45 }, (_, n) => report(n + 1, n === 25 ? "Building" : "Ready"));
  const page = await visit("/reports/history?kind=Security", {
    before: async (page) => {
      await page.clock.install();
      await stub(page, historyPath, (url) => pageOf(rows, Number(url.searchParams.get("page") ?? 1)));
    },
  });
  await page.getByText("1–20 of 45 reports").waitFor();
  await page.getByRole("button", { name: "Page 2" }).click();
  await page.getByText("21–40 of 45 reports").waitFor();
  expect(new URL(page.url()).searchParams.get("page")).toBe("2");
  const link = page.getByRole("link", { name: "Report 30", exact: true });
  await link.focus();
  /** What has the focus, and where on the screen it is. */
  const place = () =>
    page.evaluate(() => {
      const { left, top } = (document.activeElement as Element).getBoundingClientRect();
      return [document.activeElement?.textContent, Math.round(left), Math.round(top)];
    });
  const before = await place();
  expect(before[0]).toBe("Report 30");
  rows = [report(100, "Queued"), ...rows];
  await page.clock.fastForward(6_000);
  await page.getByText("21–40 of 46 reports").waitFor();
  await page.getByRole("link", { name: "Report 20", exact: true }).waitFor();
  expect(await place()).toEqual(before);
  await page.goBack();
  await page.getByText("1–20 of 46 reports").waitFor();
});

test("36 kind, states and page are in the address", async () => {
  const page = await visit("/reports/history?kind=DataInventory&status=Failed&status=Expired");
  const tab = page.getByRole("tab", { name: "Data inventory" });
  await tab.waitFor();
  expect(await tab.getAttribute("aria-selected")).toBe("true");
  expect(await page.getByRole("checkbox", { name: "Failed" }).isChecked()).toBe(true);
  const asked = requestsTo(page, "/api/v1/reports");
  await page.getByText("Failed", { exact: true }).first().click();
  await expect.poll(() => asked.map((url) => url.searchParams.getAll("status").join()), patient).toEqual(["Expired"]);
  await page.getByRole("tab", { name: "Security" }).click();
  await page.waitForURL((url) => url.searchParams.get("kind") === "Security");
});

test("36 the history opens on reports of every kind, each with its kind", async () => {
  const rows = [report(1, "Ready"), report(2, "Failed", { kind: "DataInventory" })];
  const page = await visit("/reports/history", {
    before: async (page) => {
      await stub(page, historyPath, (url) => {
        const kinds = url.searchParams.getAll("kind");
        return pageOf(
          rows.filter((r) => kinds.includes(r.kind)),
          1,
        );
      });
    },
  });
  await page.getByText("1–2 of 2 reports").waitFor();
  expect(await page.getByRole("tab", { name: "All" }).getAttribute("aria-selected")).toBe("true");
  await page.getByRole("row").filter({ hasText: "Report 2" }).getByText("Data inventory").waitFor();
  await page.getByRole("tab", { name: "Data inventory" }).click();
  await page.getByText("1 report", { exact: true }).waitFor();
  await page.getByRole("tab", { name: "All" }).click();
  await page.getByText("1–2 of 2 reports").waitFor();
  expect(new URL(page.url()).search).toBe("");
});

test("40 Download is on the screen at 360 px", async () => {
  const page = await visit("/reports/history", {
    before: async (page) => {
      await page.setViewportSize({ width: 360, height: 720 });
      await stub(page, historyPath, () => pageOf([report(1, "Ready")], 1));
    },
  });
  const box = await page.getByRole("link", { name: "Download security-1.pdf" }).boundingBox();
  expect(box && box.x >= 0 && box.x + box.width <= 360).toBe(true);
});

test("39 a report's trail is in its order, with who and when", async () => {
  const mine = await requested("member");
  await expect
    .poll(
      async () =>
        ((await (await apiAs("member", "GET", `/api/v1/reports/${mine.id}`)).json()) as Report).recipients?.[0]
          ?.delivery,
      {
        timeout: 20_000,
      },
    )
    .toBe("sent");
  expect((await apiAs("auditor", "GET", mine.downloadUrl ?? "")).ok).toBe(true);
  const page = await visit(`/reports/${mine.id}`);
  const trail = page.getByRole("list", { name: "History of the report" });
  await trail.locator('[data-event="downloaded"]').waitFor();
  await trail.locator('[data-event="signed"]').waitFor(); // some seconds after it is ready, whatever else happens meanwhile
  const types = await trail
    .getByRole("listitem")
    .evaluateAll((items) => items.map((i) => i.getAttribute("data-event")));
  const step = "stepCompleted";
  expect(types.filter((type) => type !== "signed")).toEqual([
    "queued",
    "buildStarted",
    step,
    step,
    step,
    "ready",
    "emailSent",
    "downloaded",
  ]);
  expect(types.indexOf("signed")).toBeGreaterThan(types.indexOf("ready"));
  const said = (await trail.getByRole("listitem").allInnerTexts()).filter((_, i) => types[i] !== "signed");
  expect(said[0]).toMatch(/^Requested and queued\n[\s\S]*\d+ \w+ \d{4}, \d\d:\d\d:\d\d UTC · Mia Member$/);
  expect(said[2]).toMatch(/^Built: step 1 of 3, gathering what is known\n/);
  // The demo has no mail server.
  expect(said[6]).toMatch(/^E-mail to Mia Member kept in the outbox\n+No mail server is set\n/);
  expect(said[7]).toMatch(/^Downloaded\n[\s\S]* · Otto Auditor$/);
  await page.getByText(`muster reports rebuild ${mine.id} --verify`).waitFor();
  await page
    .getByRole("region", { name: "SHA-256 of the PDF" })
    .getByText(mine.file?.baseSha256 ?? "")
    .waitFor();
});

test("36 the files of a report are listed with their digests, and fetching one is on its trail", async () => {
  const mine = await requested("member");
  const page = await visit(`/reports/${mine.id}`);
  const files = page.getByRole("region", { name: "Files and their digests" });
  await files.locator('[data-file="proof.json"]').waitFor();
  expect(await files.locator("[data-file]").evaluateAll((all) => all.map((f) => f.getAttribute("data-file")))).toEqual([
    "report.pdf",
    "findings.csv",
    "cves.csv",
    "accounts.csv",
    "inputs.json",
    "proof.json",
  ]);
  await files
    .locator('[data-file="report.pdf"]')
    .getByText(mine.file?.baseSha256 ?? "")
    .waitFor();
  const saved = page.waitForEvent("download");
  await files.getByRole("link", { name: /^Download findings\.csv/ }).click();
  expect((await saved).suggestedFilename()).toMatch(/-findings\.csv$/);
  await page.getByText("Downloaded findings.csv").waitFor();
  expect(await violations(page)).toEqual([]);
});

describe("a PDF in hand", () => {
  test("evidence is not looked for in a file that is too large, so nothing is said against it", async () => {
    const page = await visit("/reports/verify");
    await page.getByRole("button", { name: "Choose a file" }).waitFor();
    const large = Buffer.concat([Buffer.from("{"), Buffer.alloc(16 << 20, " ")]);
    await page
      .getByLabel("PDF to verify")
      .setInputFiles({ name: "evidence.json", mimeType: "application/pdf", buffer: large });
    await page.locator('[data-verdict="too-large"]').getByText("muster verify FILE").waitFor();
    expect(await page.locator('[data-verdict="unknown"]').count()).toBe(0);
    expect(await violations(page)).toEqual([]);
  });

  test("can be dropped; what is no PDF is not sent", async () => {
    const page = await visit("/reports/verify");
    const sent = requestsTo(page, "/api/v1/reports/verify");
    const zone = page.locator("[data-drop]");
    const files = await page.evaluateHandle(() => {
      const data = new DataTransfer();
      data.items.add(new File(["no report"], "letter.pdf", { type: "application/pdf" }));
      return data;
    });
    await zone.dispatchEvent("drop", { dataTransfer: files });
    await page.getByText("This file is not a PDF").waitFor();
    expect(sent).toEqual([]);
    const [chooser] = await Promise.all([
      page.waitForEvent("filechooser"),
      page.getByRole("button", { name: "Choose a file" }).press("Enter"),
    ]);
    expect(chooser.isMultiple()).toBe(false);
  });
});

test.each(["history", "tray"])(
  "40 the %s without a violation of WCAG, whatever state its rows are in",
  async (name) => {
    const rows = ["Queued", "Building", "Ready", "Failed", "Expired"].map((status, n) => report(n + 1, status));
    const page = await visit(name === "history" ? "/reports/history" : `/exports?reportId=${rows[2]?.id}`, {
      before: async (page) => {
        await stub(page, historyPath, () => pageOf(rows, 1));
        await stub(page, trayPath, () => trayOf(rows.slice(0, 3), 1));
        await page.route("**/api/v1/exports/seen", (route) => route.fulfill({ status: 204 }));
      },
    });
    await page
      .locator(name === "history" ? "tr[data-report]" : "[data-wanted]")
      .first()
      .waitFor();
    expect(await violations(page)).toEqual([]);
  },
);
