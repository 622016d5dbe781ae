// Connection strings, as internal/assessment.ParseDSN reads them.

export const tlsModes = [
  { value: "verify-full", label: "verify-full: encrypted, certificate and name checked" },
  { value: "verify-ca", label: "verify-ca: encrypted, certificate checked, not its name" },
  { value: "require", label: "require: encrypted, certificate not checked" },
  { value: "prefer", label: "prefer: encrypted if the server supports it" },
  { value: "allow", label: "allow: encrypted only if the server requires it" },
  { value: "disable", label: "disable: never encrypted" },
];

export type ConnectionFields = {
  host: string;
  /** Empty is 5432. */
  port: string;
  user: string;
  password: string;
  /** Empty is postgres. */
  database: string;
  tls: string;
};

/** dsnOf writes a connection as the URL that the API takes. */
export function dsnOf(fields: ConnectionFields): string {
  const host = fields.host.trim();
  const credentials = `${encodeURIComponent(fields.user.trim())}${fields.password ? `:${encodeURIComponent(fields.password)}` : ""}`;
  const port = fields.port.trim() ? `:${fields.port.trim()}` : "";
  const query = new URLSearchParams();
  const at = `${host.includes(":") && !host.startsWith("[") ? `[${host}]` : host}${port}`;
  query.set("sslmode", fields.tls);
  return `postgres://${credentials}@${at}/${encodeURIComponent(fields.database.trim())}?${query}`;
}

/** hostProblem says what is wrong with a host, or null. The API refuses sockets, too. */
export const hostProblem = (host: string): string | null =>
  host.trim() === ""
    ? "Enter the host."
    : host.trim().startsWith("/")
      ? "Enter a host name or an IP address. Muster does not connect to sockets."
      : null;

/** portProblem says what is wrong with a port, or null. */
export const portProblem = (port: string): string | null =>
  port.trim() === "" || (/^\d{1,5}$/.test(port.trim()) && Number(port) >= 1 && Number(port) <= 65_535)
    ? null
    : "A number from 1 to 65535.";

/** Advice is what to do about a connection that did not come about: the API's class of it, in words. */
export type Advice = { title: string; steps: string[]; field: keyof ConnectionFields };

const advice: Record<string, Advice> = {
  refused: {
    title: "Connection refused",
    field: "host",
    steps: [
      "Check host and port, from the machine that Muster runs on.",
      "By default PostgreSQL listens on loopback only; see listen_addresses.",
      "A firewall may reject the connection.",
    ],
  },
  timeout: {
    title: "No answer in time",
    field: "host",
    steps: [
      "A firewall may drop the packets: open the port for Muster's machine.",
      "Check that the host name resolves to the right address there.",
    ],
  },
  authentication: {
    title: "Sign-in refused",
    field: "password",
    steps: [
      "Check user and password. The role needs LOGIN.",
      "pg_hba.conf needs a line for this user, database and Muster's address; reload after a change.",
    ],
  },
  tls: {
    title: "No agreement on TLS",
    field: "tls",
    steps: [
      "require encrypts without checking the certificate; verify-full needs one that Muster's machine trusts.",
      "If the server has ssl = off, only prefer, allow and disable can connect.",
    ],
  },
  database: {
    title: "The database cannot be opened",
    field: "database",
    steps: [
      "Check the database's name; postgres exists on most servers.",
      "The role needs CONNECT on the database; PUBLIC has it by default.",
    ],
  },
};

/** adviceOn is what a class of failure means; null where this page does not know it. */
export const adviceOn = (failure: string): Advice | null =>
  Object.hasOwn(advice, failure) ? (advice[failure] ?? null) : null;
