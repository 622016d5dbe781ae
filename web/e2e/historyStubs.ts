// Reports for the browser tests: made by the server, or as the API would answer them where a shape or a fault is forced.
import type { Page, Route } from "playwright-core";
import { expect } from "vitest";
import type { Schemas } from "../src/api/client";
import { apiAs, type Visit, visit as visitAt } from "./browser";

export type Report = Schemas["Report"];

/** visit waits as long as a loaded machine needs. */
export const visit = (address: string, { before, ...options }: Visit = {}) =>
  visitAt(address, {
    ...options,
    before: async (page) => {
      page.setDefaultTimeout(40_000);
      await before?.(page);
    },
  });

export const patient = { timeout: 20_000 };

export const refused = (status: number) => new RegExp(`the server responded with a status of ${status}`);

/** finished is the report once it is no longer being built. */
async function finished(as: "admin" | "member", id: string): Promise<Report> {
  let found: Report | undefined;
  await expect
    .poll(
      async () => {
        found = (await (await apiAs(as, "GET", `/api/v1/reports/${id}`)).json()) as Report;
        return found.status;
      },
      { timeout: 30_000 },
    )
    .toMatch(/Ready|Failed/);
  return found as Report;
}

/** requested is a new Security report of a member, Ready. */
export async function requested(as: "admin" | "member"): Promise<Report> {
  const answer = await apiAs(as, "POST", "/api/v1/reports", {
    kind: "Security",
    scope: { instanceIds: [] },
    recipientIds: [],
  });
  expect(answer.ok).toBe(true);
  return finished(as, ((await answer.json()) as { report: Report }).report.id);
}

/** someReport is a Ready one: of the demo organization, or of other tests. */
export async function someReport(): Promise<Report> {
  const list = (await (await apiAs("admin", "GET", "/api/v1/reports?kind=Security&status=Ready")).json()) as {
    items: Report[];
  };
  return list.items[0] ?? requested("admin");
}

const id = (n: number) => `0199f0d2-7a10-7c44-9b0e-${String(n).padStart(12, "0")}`;
const day = 86_400_000;
const ago = (milliseconds: number) => new Date(Date.now() - milliseconds).toISOString();

/** report is the n-th report in a state; a Ready one expires in 29 and a half days. */
export function report(n: number, status: string, more: Partial<Report> = {}): Report {
  const ready = status === "Ready";
  const begun = status !== "Queued";
  const over = begun && status !== "Building";
  return {
    id: id(n),
    kind: "Security",
    status,
    scope: { instanceIds: [], databaseId: null, from: null, to: null },
    unavailable: [],
    scopeLabel: `Report ${n}`,
    requester: { id: id(900), name: "Ana Ruiz" },
    recipientCount: 3,
    createdAt: ago(90_000),
    startedAt: begun ? ago(75_000) : null,
    finishedAt: over ? ago(60_000) : null,
    expiresAt: ready ? ago(-29.5 * day) : status === "Expired" ? ago(2.5 * day) : null,
    downloadUrl: ready ? `/api/v1/reports/${id(n)}/download` : null,
    file: ready
      ? {
          name: `security-${n}.pdf`,
          sizeBytes: 412_331,
          sha256: "9f".repeat(32),
          baseSha256: "9f".repeat(32),
          signed: false,
          pages: 14,
          companions: ["findings.csv"],
        }
      : null,
    error:
      status === "Failed"
        ? { code: "render_failed", message: "The PDF could not be rendered. Request it again." }
        : null,
    progress: status === "Building" ? { step: 2, totalSteps: 3, label: "Keeping the inputs" } : null,
    capabilities: { canDownload: ready },
    ...more,
  };
}

/** Answer is what a stub says: a body, or a status with headers for a refusal. */
export type Answer = { body: unknown } | { status: number; headers?: Record<string, string> };

const problem = (status: number) => JSON.stringify({ status, code: "stubbed", title: "Stubbed", detail: "Stubbed." });

export const fulfil = (route: Route, answer: Answer) =>
  "body" in answer
    ? route.fulfill({ json: answer.body })
    : route.fulfill({
        status: answer.status,
        headers: answer.headers,
        contentType: "application/problem+json",
        body: problem(answer.status),
      });

/** stub answers the API's GETs of a path, and counts them. */
export async function stub(page: Page, path: RegExp, answer: (url: URL) => Answer) {
  const counted = { asked: 0 };
  await page.route(path, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    counted.asked++;
    await fulfil(route, answer(new URL(route.request().url())));
  });
  return counted;
}

export const historyPath = /\/api\/v1\/reports\?/;
export const trayPath = /\/api\/v1\/exports(\?|$)/;

/** pageOf is a page of the history, of 20. */
export const pageOf = (reports: Report[], number: number) => ({
  body: {
    items: reports.slice((number - 1) * 20, number * 20),
    page: { number, size: 20, totalItems: reports.length, totalPages: Math.ceil(reports.length / 20) },
  },
});

export const trayOf = (items: Report[], unseenCount = 0) => ({ body: { items, nextCursor: null, unseenCount } });
