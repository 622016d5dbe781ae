// Connection strings, as internal/servers reads them.

import { type CheckedEngine, entry } from "../engines";
import type { ConnectionFields } from "./engines";

const queryOf = (pairs: [string, string | false][]) =>
  new URLSearchParams(pairs.filter((pair): pair is [string, string] => pair[1] !== false && pair[1] !== "")).toString();

type Parts = { fields: ConnectionFields; at: string; instance: string; database: string };

const forms: Record<CheckedEngine, (parts: Parts) => string> = {
  postgresql: ({ fields, at, database }) =>
    `postgres://${at}/${encodeURIComponent(database)}?${queryOf([["sslmode", fields.tls]])}`,
  sqlserver: ({ fields, at, instance, database }) => {
    const trust = fields.tls === "trust";
    return `sqlserver://${at}${instance && `/${encodeURIComponent(instance)}`}?${queryOf([
      ["database", database],
      ["encrypt", trust ? "true" : fields.tls],
      ["trustServerCertificate", trust && "true"],
      ["hostNameInCertificate", fields.certificateName.trim()],
      ["applicationIntent", fields.readOnly && "ReadOnly"],
      ["fedauth", fields.entra && "ActiveDirectoryServicePrincipal"],
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
  const [host = "", instance = ""] = fields.host.trim().split("\\");
  const credentials = `${encodeURIComponent(fields.user.trim())}${fields.password ? `:${encodeURIComponent(fields.password)}` : ""}`;
  const port = fields.port.trim() ? `:${fields.port.trim()}` : "";
  const at = `${credentials}@${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}${port}`;
  return entry(forms, fields.engine)?.({ fields, at, instance, database: fields.database.trim() }) ?? "";
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

/** named is a host with the name of an instance. */
const named = /^([^\\]+)\\[\p{L}\p{N}_$#]{1,16}$/u;

/** What an engine's connection lacks beside a host and an account, by field. */
const problems: Record<CheckedEngine, (fields: ConnectionFields) => Record<string, string>> = {
  postgresql: () => ({}),
  sqlserver: ({ host, port, tls, entra, user, password }) => ({
    ...(host.includes("\\") &&
      port.trim() !== "" && { port: "Leave it empty: SQL Server Browser knows the port of an instance." }),
    ...(host.includes("\\") &&
      tls === "disable" && {
        tls: "The password would cross the network readable, to a port that others may name. Enter the instance's port.",
      }),
    ...(entra && !/^[^@]+@[^@]+$/.test(user.trim()) && { user: "Enter the application as client@tenant." }),
    ...(user.includes("\\") && password === "" && { password: "Enter the password of the Windows account." }),
  }),
  oracle: ({ password, database }) => ({
    ...(password === "" && { password: "Enter the password. Muster does not sign in without one." }),
    ...(database.trim() === "" && { database: "Enter a service or a SID." }),
  }),
};

/** fieldProblems are those of a connection in fields that need no server to be known. */
export function fieldProblems(fields: ConnectionFields): Record<string, string> {
  const host = hostProblem(fields.engine === "sqlserver" ? fields.host.replace(named, "$1") : fields.host);
  const port = portProblem(fields.port);
  return {
    ...(host && { host }),
    ...(port && { port }),
    ...(fields.user.trim() === "" && { user: "Enter the account that Muster signs in with." }),
    ...entry(problems, fields.engine)?.(fields),
  };
}
