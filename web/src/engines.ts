// The database engines. The lists are those of internal/engine, and a test there holds them to it. Each table that asks for an
// engine is a Record of one of the types below, so that an engine that is missing fails to compile.

export const engines = ["postgresql", "sqlserver", "oracle", "mongodb", "mysql"] as const;
/** The engines that there are checks of: Muster connects to them. */
export const checkedEngines = ["postgresql", "sqlserver", "oracle"] as const;

export type Engine = (typeof engines)[number];
export type CheckedEngine = (typeof checkedEngines)[number];

const names: Record<Engine, string> = {
  postgresql: "PostgreSQL",
  sqlserver: "SQL Server",
  oracle: "Oracle",
  mongodb: "MongoDB",
  mysql: "MySQL family",
};

/** entry is what a table has of an engine; undefined of one that it is not about. */
export const entry = <T>(table: Record<string, T>, engine: string): T | undefined =>
  Object.hasOwn(table, engine) ? table[engine] : undefined;

/** engineName is what people call an engine; one that this page does not know goes by its name in the API. */
export const engineName = (engine: string) => entry(names, engine) ?? engine;
