// The scripts that `muster agent grants` prints, for the account that is typed.
import checksOracle from "../../../internal/assessment/oracle/grants.sql?raw";
import checksPostgresql from "../../../internal/assessment/postgresql/grants.sql?raw";
import checks2016 from "../../../internal/assessment/sqlserver/grants/2016.sql?raw";
import checks2022 from "../../../internal/assessment/sqlserver/grants/2022.sql?raw";
import checksAzure from "../../../internal/assessment/sqlserver/grants/azure.sql?raw";
import oracle from "../../../internal/intake/measure/oracle/grants.sql?raw";
import measure2016 from "../../../internal/intake/measure/sqlserver/grants/2016.sql?raw";
import measure2022 from "../../../internal/intake/measure/sqlserver/grants/2022.sql?raw";
import measureAzure from "../../../internal/intake/measure/sqlserver/grants/azure.sql?raw";
import { type CheckedEngine, entry } from "../engines";

const usual = "muster";

const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`;

/** postgresql is the script for psql: it goes to the connection's database, and asks for the password at its end. */
function postgresql(user: string, classify: string, database: string) {
  const role = user === usual ? user : quoted(user); // another name may be a keyword
  const literal = `'${user.replaceAll("'", "''")}'`;
  const script = forClassify(checksPostgresql, classify)
    .trim()
    .split("\n")
    .map((line) =>
      line.startsWith("--") && !line.startsWith("-- GRANT")
        ? line
        : line
            .replace(/ -- and give it a password: .*/, "")
            .replace(/'muster'/g, () => literal)
            .replace(/\bmuster\b/g, (name, at: number, whole: string) => (whole[at - 1] === "'" ? name : role)),
    )
    .join("\n");
  const connect = /^\w+$/.test(database) && database !== "postgres" ? `\\connect "${database}"\n` : "";
  return `${connect}${script}

-- psql asks for the role's password here. Keep this line last: psql takes the text pasted after it for the password.
\\password ${role}`;
}

/** forClassify is a script without what only samples of values need, or with it. */
const forClassify = (script: string, classify: string) =>
  script
    .split("\n")
    .filter((line) => classify === "values" || !line.endsWith(" --values"))
    .map((line) => line.replace(/ --values$/, ""))
    .join("\n");

const sqlserver =
  (...parts: string[]) =>
  (user: string, classify: string) =>
    forClassify(parts.join("\n"), classify)
      .trim()
      .replace(/WITH PASSWORD = N'<password>'/g, (password) => (user.includes("\\") ? "FROM WINDOWS" : password))
      .replaceAll("[muster]", () => `[${user.replaceAll("]", "]]")}]`);

function oracleFor(user: string, classify: string) {
  const name = /^[a-z][\w$#]*$/i.test(user) ? user : quoted(user);
  const common = /^c##/i.test(user);
  // The scripts have parts for common users and for others: those that are not meant stay as they are, and so do comments.
  // What a cluster needs is for either.
  const meant = (line: string) => (common && !line.includes("SYS.GV_$") ? /c##muster\b/g : /(?<!#)\bmuster\b/g);
  return forClassify(`${oracle}\n${checksOracle}`, classify)
    .trim()
    .split("\n")
    .map((line) => (line.startsWith("--") ? line : line.replace(meant(line), () => name)))
    .join("\n");
}

type Script = { label: string; text: (user: string, classify: string, database: string) => string };

const scripts: Record<CheckedEngine, Script[]> = {
  postgresql: [{ label: "PostgreSQL 13 to 18", text: postgresql }],
  sqlserver: [
    { label: "2022 and newer", text: sqlserver(measure2022, checks2022) },
    { label: "2016 to 2019", text: sqlserver(measure2016, checks2016) },
    { label: "Azure SQL Database", text: sqlserver(measureAzure, checksAzure) },
  ],
  oracle: [{ label: "Oracle 12.2 and newer", text: oracleFor }],
};

/** grantsFor are the scripts that make an account able to do what Muster does, for an engine's versions. */
export const grantsFor = (engine: string, user: string, classify = "names", database = "") =>
  (entry(scripts, engine) ?? []).map(({ label, text }) => ({
    label,
    text: text(user.trim() || usual, classify, database.trim()),
  }));
