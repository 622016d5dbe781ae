// A real PostgreSQL that a test has watched.
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./ports";

const programs = "/usr/lib/postgresql";
/** newest is the newest version that is installed; undefined: none is. */
export const newest = existsSync(programs) ? readdirSync(programs).sort((a, b) => Number(b) - Number(a))[0] : undefined;
const program = (name: string) => join(programs, newest ?? "", "bin", name);

export type Watched = {
  port: number;
  /** Runs a statement, and returns what it returns. */
  sql: (text: string) => string;
  /** Starts one of the programs that come with it, connected to it. */
  run: (program: string, ...more: string[]) => ChildProcess;
  /** Ends it at once: whoever is connected is told, and nothing is waited for. */
  kill: () => Promise<void>;
  startAgain: () => Promise<void>;
  stop: () => Promise<void>;
};

/** postgres is a server of its own, with statement statistics, which refuses to run as root. */
export async function postgres(): Promise<Watched> {
  const port = await freePort();
  const dir = await mkdtemp(join(tmpdir(), "muster-e2e-pg-"));
  const root = process.getuid?.() === 0;
  const id = (flag: string) => Number(execFileSync("id", [flag, "postgres"]));
  const as = root ? { uid: id("-u"), gid: id("-g") } : {};
  if (root) await chown(dir, id("-u"), id("-g"));
  const data = join(dir, "data");
  execFileSync(program("initdb"), ["-D", data, "-A", "trust", "-U", "postgres", "-N"], { ...as, cwd: dir });
  const settings = { port, unix_socket_directories: dir, shared_preload_libraries: "pg_stat_statements", fsync: "off" };
  const flags = Object.entries(settings).flatMap(([name, value]) => ["-c", `${name}=${value}`]);
  const serve = (): ChildProcess =>
    spawn(program("postgres"), ["-D", data, ...flags], { ...as, cwd: dir, stdio: "ignore" });
  let child = serve();
  const sql = (text: string) =>
    execFileSync(program("psql"), ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres", "-qAtc", text], {
      stdio: "pipe",
      encoding: "utf8",
    }).trim();
  const run = (name: string, ...more: string[]) =>
    spawn(program(name), ["-h", "127.0.0.1", "-p", String(port), "-U", "postgres", ...more], { stdio: "ignore" });
  const asked = () => {
    try {
      return sql("CREATE EXTENSION IF NOT EXISTS pg_stat_statements");
    } catch {
      return null;
    }
  };
  const ready = async () => {
    while (asked() === null) await new Promise((resolve) => setTimeout(resolve, 100));
  };
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once("exit", resolve));
    child.kill(signal);
    await gone;
  };
  const startAgain = () => {
    child = serve();
    return ready();
  };
  const stop = async () => {
    await end("SIGINT");
    await rm(dir, { recursive: true, force: true });
  };
  await ready();
  return { port, sql, run, kill: () => end("SIGQUIT"), startAgain, stop };
}
