// The shipped binary, run by a test on an embedded default of its own.
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { chmod, mkdtemp, rm, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./ports";

export const adminEmail = "founder@example.org";
export const password = process.env.MUSTER_E2E_PASSWORD ?? "roll-call-at-dawn-7";

export type Started = {
  url: string;
  port: number;
  /** Ends the process; what it keeps stays for the next. */
  end: () => Promise<void>;
  /** Starts it again on the same data, with other settings. */
  restart: (settings: Record<string, string>) => Promise<void>;
  /** Ends it for good. */
  stop: () => Promise<void>;
};

/** start runs `muster serve` until it is ready; with demo, until that is filled as far as the dashboard's window goes. */
export async function start({ demo = false, settings = {} as Record<string, string> } = {}): Promise<Started> {
  const dir = await mkdtemp(join(await roomy(), "muster-e2e-"));
  await chmod(dir, 0o711); // or the database of a serve that runs as root lies elsewhere, and stays
  const dataDir = join(dir, "data");
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const logFile = join(dir, "serve.log");
  await writeFile(join(dir, "password"), password, { mode: 0o600 });
  const run = async (more: Record<string, string>) => {
    const log = createWriteStream(logFile, { flags: "a" });
    const child = spawn("../bin/muster", demo ? ["serve", "--demo"] : ["serve"], {
      env: {
        ...process.env,
        MUSTER_LISTEN: `127.0.0.1:${port}`,
        MUSTER_DATA_DIR: dataDir,
        MUSTER_ADMIN_EMAIL: adminEmail,
        MUSTER_ADMIN_PASSWORD_FILE: join(dir, "password"),
        MUSTER_RATE_LIMITS: "off",
        ...settings,
        ...more,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    child.stdout.pipe(log, { end: false });
    child.stderr.pipe(log, { end: false });
    await ready(url, child, logFile).catch(async (failed) => {
      await ended(child);
      throw failed;
    });
    return child;
  };
  let child = await run({});
  return {
    url,
    port,
    end: () => ended(child),
    restart: async (more) => {
      await ended(child);
      child = await run(more);
    },
    stop: async () => {
      await ended(child);
      if (!process.env.MUSTER_E2E_KEEP) await rm(dir, { recursive: true, force: true });
    },
  };
}

const inMemory = "/dev/shm";

/**
 * roomy is where a server's data may be: in memory, where its database's fsync waits for no disk, if 2 GB are free there.
 * Containers often have no more than 64 MB. A demo takes 0.4 GB.
 */
async function roomy(): Promise<string> {
  const memory = await statfs(inMemory).catch(() => null);
  return memory && memory.bavail * memory.bsize >= 2 * 2 ** 30 ? inMemory : tmpdir();
}

async function ended(child: ChildProcess) {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

async function ready(url: string, child: ChildProcess, log: string) {
  const patience = Date.now() + 180_000;
  while (Date.now() < patience && child.exitCode === null) {
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error(`muster serve did not get ready; ${log} says why`);
}
