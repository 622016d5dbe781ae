// The server that the browser tests look at: the shipped binary, `serve --demo` on an
// embedded default, with a member of every role. MUSTER_E2E_URL names one that runs
// already (with MUSTER_E2E_PASSWORD, its administrator's).
import type { TestProject } from "vitest/node";
import { adminEmail, password, type Started, start } from "./muster";

export type Role = "admin" | "member" | "auditor" | "viewer";

declare module "vitest" {
  export interface ProvidedContext {
    server: { url: string; sessions: Record<Role, string> };
  }
}

const cookieName = "__Host-muster_session";

export default async function setup(project: TestProject) {
  const running = process.env.MUSTER_E2E_URL;
  const own = running ? null : await start({ demo: true, settings: { MUSTER_CHANNEL_NETWORKS: "127.0.0.0/8" } });
  const url = running ?? (own as Started).url;
  try {
    const admin = await signIn(url, adminEmail);
    const sessions = { admin } as Record<Role, string>;
    for (const role of ["member", "auditor", "viewer"] as const) sessions[role] = await sessionOf(url, admin, role);
    if (own) await filled(url, admin);
    project.provide("server", { url, sessions });
  } catch (failed) {
    await own?.stop();
    throw failed;
  }
  return () => own?.stop();
}

/** filled waits until the demo has told all that it has to tell at once: its second report over all servers. */
async function filled(url: string, admin: string): Promise<void> {
  for (const end = Date.now() + 90_000; Date.now() < end; await new Promise((again) => setTimeout(again, 250))) {
    const answer = await fetch(`${url}/api/v1/reports?kind=Security&status=Ready`, {
      headers: { Cookie: `${cookieName}=${admin}` },
    });
    const { items } = (await answer.json()) as { items: { scope: { instanceIds: string[] } }[] };
    if (items.filter((item) => item.scope.instanceIds.length === 0).length > 1) return;
  }
  throw new Error("the demo does not request its second report over all servers");
}

const json = { "Content-Type": "application/json" };

/** signIn is a new session of a member. */
export async function signIn(url: string, email: string): Promise<string> {
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

/** sessionOf is a session of the member with a role. */
async function sessionOf(url: string, admin: string, role: Exclude<Role, "admin">): Promise<string> {
  const name = { member: "Mia Member", auditor: "Otto Auditor", viewer: "Vera Viewer" }[role];
  return joined(url, admin, { email: `${role}@example.org`, name, role });
}

/** joined is a session of a member who is invited and accepts, or who is there already. */
export async function joined(
  url: string,
  admin: string,
  { email, name, role }: { email: string; name: string; role: Role | "team" },
): Promise<string> {
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
