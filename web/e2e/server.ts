// The server that the browser tests look at: the shipped binary, `serve --demo` on an
// embedded default, with a member of every role. MUSTER_E2E_URL names one that runs
// already (with MUSTER_E2E_PASSWORD, its administrator's).
import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestProject } from "vitest/node";

export type Role = "admin" | "member" | "auditor" | "viewer";

declare module "vitest" {
  export interface ProvidedContext {
    server: { url: string; sessions: Record<Role, string>; dataDir: string };
  }
}

export const adminEmail = "founder@example.org";
export const password = process.env.MUSTER_E2E_PASSWORD ?? "roll-call-at-dawn-7";
const cookieName = "__Host-muster_session";

export default async function setup(project: TestProject) {
  const running = process.env.MUSTER_E2E_URL;
  const own = running ? null : await start();
  const url = running ?? (own as Started).url;
  try {
    const admin = await signIn(url, adminEmail);
    const sessions = { admin } as Record<Role, string>;
    for (const role of ["member", "auditor", "viewer"] as const) sessions[role] = await sessionOf(url, admin, role);
    project.provide("server", { url, sessions, dataDir: own?.dir ?? "" });
  } catch (failed) {
    await own?.stop();
    throw failed;
  }
  return () => own?.stop();
}

type Started = { url: string; dir: string; stop: () => Promise<void> };

async function start(): Promise<Started> {
  const dir = await mkdtemp(join(tmpdir(), "muster-e2e-"));
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  await writeFile(join(dir, "password"), password, { mode: 0o600 });
  const log = createWriteStream(join(dir, "serve.log"));
  const child = spawn("../bin/muster", ["serve", "--demo"], {
    env: {
      ...process.env,
      MUSTER_LISTEN: `127.0.0.1:${port}`,
      MUSTER_DATA_DIR: join(dir, "data"),
      MUSTER_ADMIN_EMAIL: adminEmail,
      MUSTER_ADMIN_PASSWORD_FILE: join(dir, "password"),
      MUSTER_RATE_LIMITS: "off",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.pipe(log, { end: false });
  child.stderr.pipe(log, { end: false });
  const stop = async () => {
    await ended(child);
    if (!process.env.MUSTER_E2E_KEEP) await rm(dir, { recursive: true, force: true });
  };
  try {
    await ready(url, child, join(dir, "serve.log"));
  } catch (failed) {
    await ended(child);
    throw failed;
  }
  return { url, dir: join(dir, "data"), stop };
}

async function ended(child: ChildProcess) {
  if (child.exitCode !== null) return;
  const gone = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  await gone;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as { port: number };
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** ready waits until the demo is filled as far as the dashboard's default window goes. */
async function ready(url: string, child: ChildProcess, log: string) {
  const patience = Date.now() + 180_000;
  while (Date.now() < patience) {
    if (child.exitCode !== null) break;
    const answer = await fetch(`${url}/readyz`).catch(() => null);
    if (answer?.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
  throw new Error(`muster serve --demo did not get ready; ${log} says why`);
}

const json = { "Content-Type": "application/json" };

async function signIn(url: string, email: string): Promise<string> {
  const answer = await fetch(`${url}/api/v1/session`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ email, password }),
  });
  if (!answer.ok) throw new Error(`sign-in of ${email}: ${answer.status} ${await answer.text()}`);
  return cookieOf(answer);
}

function cookieOf(answer: Response): string {
  const cookie = answer.headers.getSetCookie().find((c) => c.startsWith(`${cookieName}=`));
  if (!cookie) throw new Error("the answer set no session");
  return cookie.slice(cookieName.length + 1).split(";")[0] as string;
}

/** sessionOf is a session of a member with a role, who is invited where there is none yet. */
async function sessionOf(url: string, admin: string, role: Exclude<Role, "admin">): Promise<string> {
  const email = `${role}@example.org`;
  const name = { member: "Mia Member", auditor: "Otto Auditor", viewer: "Vera Viewer" }[role];
  const invited = await fetch(`${url}/api/v1/members`, {
    method: "POST",
    headers: { ...json, Cookie: `${cookieName}=${admin}` },
    body: JSON.stringify({ email, name, role }),
  });
  if (invited.status === 409) return signIn(url, email);
  if (!invited.ok) throw new Error(`invitation of ${email}: ${invited.status} ${await invited.text()}`);
  const { inviteUrl } = (await invited.json()) as { inviteUrl: string };
  const token = new URL(inviteUrl).hash.replace(/^#(token=)?/, "");
  const accepted = await fetch(`${url}/api/v1/invitations/${token}`, {
    method: "POST",
    headers: json,
    body: JSON.stringify({ name, password }),
  });
  if (!accepted.ok) throw new Error(`acceptance by ${email}: ${accepted.status} ${await accepted.text()}`);
  return cookieOf(accepted);
}
