// Reports as the API would answer them, for tests that force a shape or a fault.
import type { Page, Route } from "playwright-core";
import type { Schemas } from "../src/api/client";

type Report = Schemas["Report"];

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
    scopeLabel: `Report ${n}`,
    requester: { id: id(900), name: "Ana Ruiz" },
    recipientCount: 3,
    createdAt: ago(90_000),
    startedAt: begun ? ago(75_000) : null,
    finishedAt: over ? ago(60_000) : null,
    expiresAt: ready ? ago(-29.5 * day) : status === "Expired" ? ago(2.5 * day) : null,
    downloadUrl: ready ? `/api/v1/reports/${id(n)}/download` : null,
    file: ready ? { name: `security-${n}.pdf`, sizeBytes: 412_331, sha256: "9f".repeat(32), pages: 14 } : null,
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

/** stub answers the API's GETs of a path, and counts them: asked by the page, and arrived there. */
export async function stub(page: Page, path: RegExp, answer: (url: URL) => Answer) {
  const counted = { asked: 0, answered: 0 };
  await page.route(path, async (route) => {
    if (route.request().method() !== "GET") return route.fallback();
    counted.asked++;
    await fulfil(route, answer(new URL(route.request().url())));
  });
  page.on("requestfinished", (request) => {
    if (request.method() === "GET" && path.test(request.url())) counted.answered++;
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
