// Connection strings, as internal/servers reads them.

import { type CheckedEngine, entry } from "../engines";
import type { ConnectionFields } from "./engines";

const queryOf = (pairs: [string, string | false][]) =>
  new URLSearchParams(pairs.filter((pair): pair is [string, string] => pair[1] !== false && pair[1] !== "")).toString();

type Parts = { fields: ConnectionFields; at: string; database: string };

const forms: Record<CheckedEngine, (parts: Parts) => string> = {
  postgresql: ({ fields, at, database }) =>
    `postgres://${at}/${encodeURIComponent(database)}?${queryOf([["sslmode", fields.tls]])}`,
  sqlserver: ({ fields, at, database }) => {
    const trust = fields.tls === "trust";
    return `sqlserver://${at}?${queryOf([
      ["database", database],
      ["encrypt", trust ? "true" : fields.tls],
      ["trustServerCertificate", trust && "true"],
      ["hostNameInCertificate", fields.certificateName.trim()],
      ["applicationIntent", fields.readOnly && "ReadOnly"],
    ])}`;
  },
  oracle: ({ fields, at, database }) => {
    const sid = fields.namedBy === "sid";
    return `oracle://${at}/${sid ? "" : encodeURIComponent(database)}?${queryOf([
      ["sid", sid && database],
      ["sslmode", fields.tls],
    ])}`;
  },
};

/** dsnOf writes a connection as the URL that the API takes; empty for an engine that Muster does not connect to. */
export function dsnOf(fields: ConnectionFields): string {
  const host = fields.host.trim();
  const credentials = `${encodeURIComponent(fields.user.trim())}${fields.password ? `:${encodeURIComponent(fields.password)}` : ""}`;
  const port = fields.port.trim() ? `:${fields.port.trim()}` : "";
  const at = `${credentials}@${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}${port}`;
  return entry(forms, fields.engine)?.({ fields, at, database: fields.database.trim() }) ?? "";
}

/** hostProblem says what is wrong with a host, or null. The API refuses sockets and the names of instances, too. */
export function hostProblem(host: string): string | null {
  if (host.trim() === "") return "Enter the host.";
  if (host.trim().startsWith("/")) return "Enter a host name or an IP address. Muster does not connect to sockets.";
  if (host.includes("\\"))
    return "Enter the host without the name of the instance. A named instance has a port of its own: enter that.";
  return null;
}

/** portProblem says what is wrong with a port, or null. */
export const portProblem = (port: string): string | null =>
  port.trim() === "" || (/^\d{1,5}$/.test(port.trim()) && Number(port) >= 1 && Number(port) <= 65_535)
    ? null
    : "A number from 1 to 65535.";

/** What an engine's connection lacks beside a host and an account, by field. */
const problems: Record<CheckedEngine, (fields: ConnectionFields) => Record<string, string>> = {
  postgresql: () => ({}),
  sqlserver: ({ user, password }) => ({
    ...(user.includes("\\") && password === "" && { password: "Enter the password of the Windows account." }),
  }),
  oracle: ({ password, database }) => ({
    ...(password === "" && { password: "Enter the password. Muster does not sign in without one." }),
    ...(database.trim() === "" && { database: "Enter a service or a SID." }),
  }),
};

/** fieldProblems are those of a connection in fields that need no server to be known. */
export function fieldProblems(fields: ConnectionFields): Record<string, string> {
  const host = hostProblem(fields.host);
  const port = portProblem(fields.port);
  return {
    ...(host && { host }),
    ...(port && { port }),
    ...(fields.user.trim() === "" && { user: "Enter the account that Muster signs in with." }),
    ...entry(problems, fields.engine)?.(fields),
  };
}
