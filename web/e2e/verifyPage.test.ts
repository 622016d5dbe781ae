// The page of `muster verify --page`: one file, opened from a disk, with the network blocked. It says of every vector what
// the Go verifier says of it (internal/proof/attest/page/testdata).
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContext, BrowserContextOptions, Page } from "playwright-core";
import { afterAll, beforeAll, expect, test } from "vitest";
import { launch, testLong, thorough, violations } from "./browser";

type Vector = { name: string; verdict: string; step: string; proof: boolean; keys: string; now?: string };

const vectors = join(import.meta.dirname, "../../internal/proof/attest/page/testdata/vectors");
const all = JSON.parse(readFileSync(join(vectors, "vectors.json"), "utf8")) as Vector[];
const pathOf = (v: Vector, extension: string) =>
  join(vectors, v.name.replaceAll(",", "").replaceAll(" ", "-") + extension);
const keysOf = (name: string) => join(vectors, `keys-${name.replaceAll(" ", "-")}.json`);
const filesOf = (v: Vector) => [keysOf(v.keys), pathOf(v, ".pdf"), ...(v.proof ? [pathOf(v, ".proof.json")] : [])];
const same = (v: Vector) => (w: Vector) => w.verdict === v.verdict && w.step === v.step;
/** tried are all vectors in `make test-all`. In `make test`, where Node runs the page's program on all, they are one of each verdict and step. */
const tried = thorough ? all : all.filter((v, i) => all.findIndex(same(v)) === i);
const named = (name: string) => all.find((v) => v.name === name) as Vector;

const folder = mkdtempSync(join(tmpdir(), "muster-page-"));
const plain = `file://${join(folder, "plain.html")}`;
const withKeys = `file://${join(folder, "keys.html")}`;

let browser: Awaited<ReturnType<typeof launch>>;

beforeAll(async () => {
  // No installation is near: the page comes out of the program alone.
  const print = (name: string, ...more: string[]) =>
    writeFileSync(join(folder, name), execFileSync("../bin/muster", ["verify", "--page", ...more]));
  print("plain.html");
  print("keys.html", "--keys", keysOf("ours"));
  browser = await launch();
});

afterAll(async () => {
  await browser?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** opened opens the page offline, and holds against it whatever it asks for or complains of. */
async function opened(
  address: string,
  work: (page: Page) => Promise<unknown>,
  { before, ...options }: BrowserContextOptions & { before?: (context: BrowserContext) => Promise<unknown> } = {},
) {
  const context = await browser.newContext({ viewport: { width: 900, height: 900 }, offline: true, ...options });
  try {
    await before?.(context);
    const page = await context.newPage();
    const heard: string[] = [];
    page.on("request", (r) => r.url() === address || heard.push(`asked for ${r.url()}`));
    page.on("console", (m) => heard.push(m.text()));
    page.on("pageerror", (e) => heard.push(String(e)));
    await page.goto(address);
    await work(page);
    expect(heard, "what the page asked for or complained of").toEqual([]);
  } finally {
    await context.close();
  }
}

const give = (page: Page, ...files: string[]) => page.getByLabel("Choose files").setInputFiles(files);

/** saidOf waits for the answer about the one file that was given. */
async function saidOf(page: Page) {
  const said = page.locator("article");
  await said.waitFor();
  await page.locator('#results[aria-busy="false"]').waitFor();
  const states = await said
    .locator("[data-step]")
    .evaluateAll((steps) =>
      steps.map((s) => ({ name: s.getAttribute("data-step"), state: s.getAttribute("data-state") })),
    );
  const off = states.find((s) => s.state === "broken") ?? states.find((s) => s.state === "untold");
  return {
    verdict: await said.getAttribute("data-verdict"),
    step: off?.name ?? "",
    took: Number(await said.getAttribute("data-took")),
  };
}

test("it says of every vector what the program says", async () => {
  await opened(plain, async (page) => {
    for (const v of tried) {
      await page.clock.setFixedTime(v.now ?? Date.now());
      await page.reload();
      await give(page, ...filesOf(v));
      const { verdict, step } = await saidOf(page);
      // A proof that cannot be read is named as not taken, and then the file has none.
      const unread = v.step === "proof";
      expect({ name: v.name, verdict, step }).toEqual({
        name: v.name,
        verdict: v.verdict,
        step: unread ? "file" : v.step,
      });
      const refused = page.locator("#taken li", { hasText: "not taken: " });
      expect(await refused.allTextContents(), v.name).toEqual(
        unread ? [expect.stringContaining(".proof.json (this is no proof document")] : [],
      );
    }
  });
});

test("nothing yet, keys first, keys that came with the page, and keys that are none", async () => {
  await opened(plain, async (page) => {
    await page.getByRole("heading", { name: "Check a Muster report" }).waitFor();
    expect(await page.locator("article").count()).toBe(0);
    await give(page, keysOf("ours"));
    await page.getByText("Now add the report, a PDF.").waitFor();
    await give(page, pathOf(named("signed"), ".pdf"));
    expect((await saidOf(page)).verdict).toBe("holds");
    await page.getByText("security-2026-11-23.pdf").waitFor();
    await page.reload();
    await give(page, pathOf(named("signed"), ".pdf"));
    await page.getByText("Add muster-keys.json.").waitFor();
    expect((await saidOf(page)).verdict).toBe("cannot tell");
    const broken = join(folder, "broken.json");
    writeFileSync(broken, readFileSync(keysOf("ours"), "utf8").replace('"publicKey": "MCow', '"publicKey": "MCox'));
    await give(page, broken);
    await page.getByText("this is no keys document").waitFor();
  });
  await opened(withKeys, async (page) => {
    await page.getByText("those that came with this page").waitFor();
    await page.evaluate(
      (content) => {
        const dropped = new DataTransfer();
        dropped.items.add(new File([Uint8Array.from(atob(content), (c) => c.charCodeAt(0))], "dropped.pdf"));
        document
          .querySelector("footer")
          ?.dispatchEvent(new DragEvent("drop", { dataTransfer: dropped, bubbles: true }));
      },
      readFileSync(pathOf(named("signed"), ".pdf")).toString("base64"),
    );
    expect((await saidOf(page)).verdict).toBe("holds");
    // Of several files each has its answer.
    await give(page, pathOf(named("signed"), ".pdf"), pathOf(named("a byte of the base"), ".pdf"));
    await expect
      .poll(() => page.locator("article").evaluateAll((a) => a.map((x) => x.getAttribute("data-verdict"))))
      .toEqual(["holds", "contradicted"]);
  });
});

test("nothing of a file becomes a part of the page", async () => {
  await opened(withKeys, async (page) => {
    const v = named("base with its proof");
    const proof = join(folder, "hostile.json");
    const hostile = "<img src=x onerror=alert(1)><b>";
    writeFileSync(
      proof,
      readFileSync(pathOf(v, ".proof.json"), "utf8").replace('"kind":"Security"', `"kind":${JSON.stringify(hostile)}`),
    );
    const pdf = join(folder, `${hostile.replaceAll("/", "")}.pdf`);
    writeFileSync(pdf, readFileSync(pathOf(v, ".pdf")));
    await give(page, pdf, proof);
    expect((await saidOf(page)).verdict).toBe("contradicted");
    expect(await page.locator("article img, article b, .taken img").count()).toBe(0);
    expect(await page.locator("article dl").textContent()).toContain(hostile);
  });
});

test("a browser without Ed25519 says so", async () => {
  await opened(
    withKeys,
    async (page) => {
      await give(page, pathOf(named("signed"), ".pdf"));
      await page.getByText("This browser cannot check Ed25519 signatures.").waitFor();
      expect((await saidOf(page)).verdict).toBe("cannot tell");
    },
    {
      before: (context) =>
        context.addInitScript(() => {
          const own = crypto.subtle.importKey.bind(crypto.subtle) as (...a: unknown[]) => Promise<CryptoKey>;
          crypto.subtle.importKey = ((...a: unknown[]) =>
            a[2] === "Ed25519"
              ? Promise.reject(new DOMException("no", "NotSupportedError"))
              : own(...a)) as typeof crypto.subtle.importKey;
        }),
    },
  );
});

test("of two files that are given one right after the other, it shows the second", async () => {
  await opened(withKeys, async (page) => {
    const large = join(folder, "first.pdf");
    writeFileSync(large, Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(30 << 20, "\n%%EOF\n")]));
    await Promise.all([give(page, large), give(page, pathOf(named("signed"), ".pdf"))]);
    await saidOf(page);
    expect(await page.locator("#taken li", { hasText: "report: " }).allTextContents()).toEqual([
      expect.stringContaining("signed.pdf"),
    ]);
    expect(await page.locator("article").count()).toBe(1);
  });
});

// By the clock of another machine a bound says little. What it is to catch is work that grows with the square of the
// file, of which ten times the bytes would take a hundred times as long; at these sizes nothing else hides it.
testLong("a file of 30 MB takes less than 40 times as long as one of 3 MB", async () => {
  await opened(withKeys, async (page) => {
    const v = named("base with its proof");
    /** checked is how many milliseconds the page took for a file, which is given with others. */
    const checked = async (file: string, ...others: string[]) => {
      await give(page, file, ...others);
      const { verdict, took } = await saidOf(page);
      expect(verdict).toBe("contradicted");
      return took;
    };
    // The least of several is what the page takes; more is what else the machine does.
    const least = async (name: string, bytes: number, enough: number) => {
      const file = join(folder, name);
      writeFileSync(
        file,
        Buffer.concat([Buffer.from("%PDF-1.7\n"), Buffer.alloc(bytes, "\n%%EOF\n%muster-signed-0\n")]),
      );
      let took = await checked(file, pathOf(v, ".proof.json"));
      for (let n = 0; n < 5 && took >= enough; n++) took = Math.min(took, await checked(file));
      return took;
    };
    const small = await least("small.pdf", 3 << 20, 0);
    const large = await least("large.pdf", 30 << 20, 40 * small);
    process.stdout.write(`3 MB checked in ${small} ms, 30 MB in ${large} ms\n`);
    expect(large / small).toBeLessThan(40);
  });
});

test("it is within reach: keys alone, 360 px, dark and light, for a screen reader", async () => {
  const pictures = process.env.MUSTER_SCREENSHOTS;
  for (const [name, file] of [
    ["holds", "signed"],
    ["contradicted", "the event"],
    ["open", "keys without that of reports"],
  ] as const)
    await opened(
      plain,
      async (page) => {
        await page.keyboard.press("Tab");
        expect(await page.evaluate(() => document.activeElement?.id), "the first stop of the keyboard").toBe("files");
        await give(page, ...filesOf(named(file)));
        await saidOf(page);
        expect(await violations(page)).toEqual([]);
        expect(
          await page.evaluate(() => document.documentElement.scrollWidth),
          "as wide as the screen",
        ).toBeLessThanOrEqual(360);
        if (!pictures || !existsSync(pictures)) return;
        for (const colorScheme of ["light", "dark"] as const) {
          await page.emulateMedia({ colorScheme });
          await page.screenshot({ path: join(pictures, `verify-${name}-${colorScheme}.png`), fullPage: true });
        }
      },
      { viewport: { width: 360, height: 740 } },
    );
});
