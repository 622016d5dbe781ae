// What the demo says about a server on one page, it says on all others: the figures are compared as the API answers them.
import { expect, test, vi } from "vitest";
import { apiAs } from "./browser";

const get = async <T>(path: string) => (await (await apiAs("admin", "GET", path)).json()) as T;
const listed = async <T>(path: string) => (await get<{ items: T[] }>(path)).items;

type Instance = { id: string; name: string; engine: string; active: boolean };
type Size = {
  kind: string;
  name: string;
  host: string | null;
  measuredAt: string;
  usedBytes: number | null;
  usedPercent: number | null;
};
type Capacity = {
  sizes: Size[];
  connections: { used: number; limit: number; measuredAt: string } | null;
  transactionIds: { usedPercent: number } | null;
  ages: { usedPercent: number }[];
  sequences: { usedPercent: number }[];
};
type Backups = {
  rpoMinutes: number;
  sources: { condition: string }[];
  databases: {
    database: { name: string } | null;
    state: string;
    ageSeconds: number | null;
    backups: { kind: string; finishedAt: string }[];
  }[];
};
type Contributors = { items: { mount: string | null; host: string | null; value: number }[] };

/** onPaper are the servers of the demo that are measured, but for its own, which is alive. */
const onPaper = async () =>
  (await listed<Instance>("/api/v1/instances?pageSize=100&q=demo-&status=active")).filter(
    ({ name, active }) => active && name.startsWith("demo-") && name !== "demo-pg-muster-01",
  );
const minute = 60_000;
const of = (server: Instance, what: string) => `/api/v1/instances/${server.id}/${what}`;

test("the demo's databases are as large in the list as in Capacity, and its volumes as full as on the dashboard", async () => {
  const servers = await onPaper();
  expect(servers.length).toBeGreaterThan(10);
  let volumes = 0;
  for (const server of servers) {
    const { sizes } = await get<Capacity>(of(server, "capacity"));
    const databases = await listed<{ name: string; sizeBytes: number }>(of(server, "databases"));
    const bytes = (kind: string, name: string) => sizes.find((s) => s.kind === kind && s.name === name)?.usedBytes ?? 0;
    for (const { name, sizeBytes } of databases) {
      const told = bytes("database", name);
      expect(Math.abs(told / sizeBytes - 1), `${server.name} ${name}: ${told} and ${sizeBytes}`).toBeLessThan(0.03);
    }
    for (const volume of sizes.filter((s) => s.kind === "volume")) {
      const at = Math.floor(Date.parse(volume.measuredAt) / minute) * minute;
      const window = `from=${new Date(at).toISOString()}&to=${new Date(at + minute).toISOString()}`;
      const { items } = await get<Contributors>(
        `/api/v1/metrics/utilization/contributors?${window}&series=disk&by=volume&instanceId=${server.id}`,
      );
      const shown = items.find((i) => i.mount === volume.name && i.host === volume.host);
      if (!shown) continue; // less than a minute of it is in the series
      expect(Math.abs(shown.value - (volume.usedPercent ?? 0)), `${server.name} ${volume.name}`).toBeLessThan(0.2);
      volumes++;
    }
  }
  expect(volumes).toBeGreaterThan(10);
});

test("the demo's checks, alerts and backups agree on what is saved", async () => {
  const servers = await onPaper();
  const open = await listed<{
    title: string;
    instance: { name: string } | null;
    database: { name: string } | null;
    createdAt: string;
  }>("/api/v1/alerts?status=open&pageSize=100");
  let none = 0;
  for (const server of servers) {
    const saved = await get<Backups>(of(server, "backups"));
    const checks = await listed<{ check: { id: string } }>(
      `/api/v1/findings?instanceId=${server.id}&checkId=MS-16&checkId=PG-F05`,
    );
    const fails = (id: string) => checks.some((f) => f.check.id === id);
    const late = saved.databases.filter((d) => d.state !== "kept");
    expect(saved.databases.length, server.name).toBeGreaterThan(0);
    if (server.engine === "sqlserver") expect(late.length > 0, `${server.name}: MS-16`).toBe(fails("MS-16"));
    const logs = saved.databases.flatMap((d) => d.backups).filter((b) => b.kind === "wal");
    const archived = logs.some((b) => Date.now() - Date.parse(b.finishedAt) < 3 * 3_600_000);
    if (server.engine === "postgresql") expect(archived, `${server.name}: PG-F05`).toBe(!fails("PG-F05"));
    for (const alert of open.filter((a) => a.instance?.name === server.name && /^No full backup for/.test(a.title))) {
      const hours = Number(/for (\d+) hours/.exec(alert.title)?.[1]);
      const whole = saved.databases
        .filter((d) => !d.database || d.database.name === alert.database?.name)
        .flatMap((d) => d.backups.filter((b) => b.kind === "full"));
      const newest = Math.max(...whole.map((b) => Date.parse(b.finishedAt)));
      expect(Date.parse(alert.createdAt) - newest, `${server.name}: ${alert.title}`).toBeGreaterThanOrEqual(
        hours * 3_600_000,
      );
      none++;
    }
  }
  expect(none).toBeGreaterThan(0);
});

test("the demo's connections, ids and sequences are those of its settings and checks", async () => {
  let known = 0;
  for (const server of (await onPaper()).filter((s) => s.engine === "postgresql")) {
    const room = await get<Capacity>(of(server, "capacity"));
    if (!room.connections) continue; // its agent is off
    known++;
    await vi.waitFor(
      async () => {
        const { connections } = await get<Capacity>(of(server, "capacity"));
        const { total } = await get<{ total: number }>(`/api/v1/metrics/connections?instanceId=${server.id}`);
        expect(connections?.used, server.name).toBe(total); // unless a minute begins between the two
      },
      { timeout: 15_000, interval: 500 },
    );
    const oldest = Math.max(...room.ages.map((a) => a.usedPercent));
    expect(Math.abs((room.transactionIds?.usedPercent ?? 0) - oldest), server.name).toBeLessThan(0.2);
    const ends = await listed(`/api/v1/findings?instanceId=${server.id}&checkId=PG-C06`);
    expect(
      room.sequences.some((s) => s.usedPercent >= 75),
      `${server.name}: PG-C06`,
    ).toBe(ends.length > 0);
  }
  expect(known).toBeGreaterThan(2);
});
