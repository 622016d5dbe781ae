import { type CheckedEngine, entry } from "../engines";

// What a connection to each engine consists of, as internal/servers reads its connection strings.

/** ConnectionFields are a connection as it is typed in fields. What an engine does not have is left empty. */
export type ConnectionFields = {
  engine: string;
  host: string;
  /** Empty is the engine's usual one. */
  port: string;
  user: string;
  password: string;
  /** Of Oracle it is a service or a SID. */
  database: string;
  /** A mode of the engine's `tls`. */
  tls: string;
  /** SQL Server: the name in the certificate, where that is not the host's. */
  certificateName: string;
  /** SQL Server: a listener may lead to a secondary. */
  readOnly: boolean;
  /** SQL Server: the user is an application of Microsoft Entra ID. */
  entra: boolean;
  /** Oracle: which of the two `database` is. */
  namedBy: "service" | "sid";
};

export type Mode = { value: string; label: string };

/** ConnectedEngine is an engine that Muster connects to by itself. */
export type ConnectedEngine = {
  port: string;
  database: { label: string; placeholder: string; description: string };
  tls: Mode[];
  usualTls: string;
  tlsHint: string;
  scheme: RegExp;
  schemes: string;
  url: string;
  urlHint: string;
};

const escaped = "Write characters like @ and # in the password as %40 and %23.";

const connected: Record<CheckedEngine, ConnectedEngine> = {
  postgresql: {
    port: "5432",
    database: {
      label: "Database",
      placeholder: "postgres",
      description: "Muster connects here first, then to all other databases.",
    },
    tls: [
      { value: "verify-full", label: "verify-full: encrypted, certificate and name checked" },
      { value: "verify-ca", label: "verify-ca: encrypted, certificate checked, not its name" },
      { value: "require", label: "require: encrypted, certificate not checked" },
      { value: "prefer", label: "prefer: encrypted if the server supports it" },
      { value: "allow", label: "allow: encrypted only if the server requires it" },
      { value: "disable", label: "disable: never encrypted" },
    ],
    usualTls: "prefer",
    tlsHint: "Use verify-full if you can.",
    scheme: /^postgres(ql)?:\/\//,
    schemes: "postgres:// or postgresql://",
    url: "postgres://muster:password@db01:5432/postgres?sslmode=verify-full",
    urlHint: `Host, port, user, password, database and sslmode. ${escaped}`,
  },
  sqlserver: {
    port: "1433",
    database: {
      label: "Database",
      placeholder: "the login's own",
      description: "Add each Azure SQL database separately.",
    },
    // trust is encrypt=true with trustServerCertificate=true.
    tls: [
      { value: "true", label: "true: encrypted, certificate and name checked" },
      { value: "strict", label: "strict: as true, before anything else (SQL Server 2022, Azure SQL)" },
      { value: "trust", label: "true, any certificate: encrypted, certificate not checked" },
      { value: "false", label: "false: only the login encrypted" },
      { value: "disable", label: "disable: not encrypted, and the password readable on the network" },
    ],
    usualTls: "true",
    tlsHint: "The mode encrypt of the connection string.",
    scheme: /^sqlserver:\/\//,
    schemes: "sqlserver://",
    url: "sqlserver://muster:password@db01:1433?database=master&encrypt=true",
    urlHint: `A named instance is db01/INSTANCE. Also trustServerCertificate, hostNameInCertificate, applicationIntent, fedauth and letPause. ${escaped}`,
  },
  oracle: {
    port: "1521",
    database: {
      label: "Service or SID",
      placeholder: "orders.example.com",
      description: "The service of a pluggable database, or the root's service for all of them.",
    },
    tls: [
      { value: "verify-full", label: "verify-full: TLS, certificate and name checked" },
      { value: "require", label: "require: TLS, certificate not checked" },
      { value: "disable", label: "disable: no TLS, the password still not in the clear" },
    ],
    usualTls: "disable",
    tlsHint: "Listeners with TLS usually have a port of their own, 2484.",
    scheme: /^oracle:\/\//,
    schemes: "oracle://",
    url: "oracle://muster:password@db01:1521/orders.example.com?sslmode=verify-full",
    urlHint: `With the name of a service, or ?sid=ORCL. The hosts of a Data Guard pair are db01,db02; a connect descriptor may stand for the host. wallet= is a client certificate. ${escaped} A common user is C%23%23MUSTER.`,
  },
};

/** connectedEngine is how Muster connects to an engine; null where it does not. */
export const connectedEngine = (engine: string): ConnectedEngine | null => entry(connected, engine) ?? null;
