import { type CheckedEngine, entry } from "../engines";
import type { ConnectionFields } from "./engines";

/** Advice is what to do about a connection that did not come about: the API's class of it, in words. */
export type Advice = { title: string; steps: string[]; field: keyof ConnectionFields };

type Class = { title: string; field: keyof ConnectionFields; always: string[]; of: Record<CheckedEngine, string[]> };

const classes: Record<string, Class> = {
  refused: {
    title: "Connection refused",
    field: "host",
    always: ["Check host and port, from the machine that Muster runs on.", "A firewall may reject the connection."],
    of: {
      postgresql: ["By default PostgreSQL listens on loopback only; see listen_addresses."],
      sqlserver: [
        "SQL Server listens only if TCP/IP is switched on in its Configuration Manager; a named instance has a port of its own.",
      ],
      oracle: ["lsnrctl status, on the server, says where the listener listens and whether it runs."],
    },
  },
  timeout: {
    title: "No answer in time",
    field: "host",
    always: [
      "A firewall may drop the packets: open the port for Muster's machine.",
      "Check that the host name resolves to the right address there.",
    ],
    of: {
      postgresql: [],
      sqlserver: ["A listener or a gateway may send Muster on to another address: that has to be open, too."],
      oracle: ["A listener of a cluster may send Muster on to another address: that has to be open, too."],
    },
  },
  authentication: {
    title: "Sign-in refused",
    field: "password",
    always: [],
    of: {
      postgresql: [
        "Check user and password. The role needs LOGIN.",
        "pg_hba.conf needs a line for this user, database and Muster's address; reload after a change.",
      ],
      sqlserver: [
        "Check login and password. A login that is disabled, locked or expired is refused, too.",
        "A server that accepts Windows accounts only needs one of those: DOMAIN\\user, with its password. Enter an application of Microsoft Entra ID as a URL, with fedauth.",
      ],
      oracle: [
        "Check user and password; case matters. The account needs CREATE SESSION, and must be neither locked nor expired.",
        "A common user (C##…) is signed in by its whole name.",
      ],
    },
  },
  tls: {
    title: "No agreement on TLS",
    field: "tls",
    always: [],
    of: {
      postgresql: [
        "require encrypts without checking the certificate; verify-full needs one that Muster's machine trusts.",
        "If the server has ssl = off, only prefer, allow and disable can connect.",
      ],
      sqlserver: [
        "The certificate must be for this host, from an authority that Muster's machine trusts. If it has another name, enter that.",
        "The certificate that SQL Server makes for itself passes only where any certificate does.",
        "strict needs SQL Server 2022 or Azure SQL.",
      ],
      oracle: [
        "The port must be one where the listener has TLS (TCPS), usually 2484; on 1521 it usually has none.",
        "require takes any certificate; verify-full needs one that Muster's machine trusts, for this host.",
      ],
    },
  },
  database: {
    title: "The database cannot be opened",
    field: "database",
    always: [],
    of: {
      postgresql: [
        "Check the database's name; postgres exists on most servers.",
        "The role needs CONNECT on the database; PUBLIC has it by default.",
      ],
      sqlserver: [
        "Check the database's name; master exists on every server.",
        "The login needs CONNECT ANY DATABASE or a user there, and the database must be online.",
      ],
      oracle: [
        "lsnrctl services, on the server, lists the services that the listener knows.",
        "A pluggable database must be open. Check whether the name is that of a service or of a SID.",
      ],
    },
  },
};

/** adviceOn is what a class of failure means for an engine; null where this page does not know it. */
export function adviceOn(engine: string, failure: string): Advice | null {
  const known = Object.hasOwn(classes, failure) ? classes[failure] : undefined;
  if (!known) return null;
  const { title, field, always, of } = known;
  return { title, field, steps: [...always.slice(0, 1), ...(entry(of, engine) ?? []), ...always.slice(1)] };
}
