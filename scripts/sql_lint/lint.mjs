// Two parsers read every query that Muster sends to a SQL Server or an Oracle: the .sql files
// whose first line names the engine, and the queries of the check catalogue. They are a net
// for typing errors, no judge: what each of them takes wrongly is in `planted`, and held to
// it, so that nobody thinks more of them than is true. Whether a column exists, package
// internal/servers/documented says.
import fs from 'node:fs'
import path from 'node:path'
import { Dialect, parse, transpile } from '@polyglot-sql/sdk'
import transactsql from 'node-sql-parser/build/transactsql.js'
import YAML from 'yaml'

const root = path.resolve(import.meta.dirname ?? path.dirname(new URL(import.meta.url).pathname), '../..')

// A query by engine, and what each parser says of it: '' where it takes it. node-sql-parser
// knows no Oracle.
const node = new transactsql.Parser()
const parsers = {
  polyglot: (engine, sql) => {
    const read = parse(sql, engine === 'oracle' ? Dialect.Oracle : Dialect.TSQL)
    return read.success ? '' : read.error || 'refused'
  },
  node: (engine, sql) => {
    if (engine === 'oracle') return ''
    try {
      node.astify(sql, { database: 'transactsql' })
      return ''
    } catch (e) {
      return String(e.message).replace(/Expected[^]*but /, '') || 'refused'
    }
  },
}

// What a parser does not take and a server does, one by one.
const exceptions = {
  'MS-29 query': { parser: 'node', reason: "it takes the backslash of N'\\' for an escape, which T-SQL does not know" },
  'internal/intake/measure/sqlserver/sql/room_tables.sql': { parser: 'node', reason: 'it takes no function of another database in CROSS APPLY' },
}

// Typing errors, and who sees them: p for polyglot in T-SQL, o in Oracle, n for
// node-sql-parser. What none of them sees, and a name that is written wrong, is left to
// internal/servers/documented.
const planted = {
  'select a b c from t': 'pon',
  'select (a from t': 'pon',
  'select a form t x y': 'pon',
  'select a from t where x = 1 where y = 2': 'pon',
  "select 'a from t": 'pon',
  'select a from t group a': 'pon',
  'select a from t where and b = 1': 'pon',
  'select a from t where a not 1': 'pon',
  'select a from t cross aply u': 'pon',
  'select concat(a, ) from t': 'pon',
  'select cast(a nvarchar(10)) from t': 'pon',
  'select a from t where a between 1': 'pon',
  'select case when a then b from t': 'po',
  'selct a from t': 'po',
  'select a, from t': 'n',
  'select from t': 'n',
  'select a from t where a == 1': 'n',
  'select a from t where a in ()': 'n',
  'select a from t join u': '',
  'select a from t limit 5': '',
  'select nosuch(a) from t': '',
}

const faults = []
for (const [sql, seen] of Object.entries(planted)) {
  const by = [
    parsers.polyglot('sqlserver', sql) && 'p',
    parsers.polyglot('oracle', sql) && 'o',
    parsers.node('sqlserver', sql) && 'n',
  ].filter(Boolean).join('')
  if (by !== seen) faults.push(`planted "${sql}" is seen by "${by}", and not by "${seen}": say so in planted`)
}

const queries = []
for (const engine of ['sqlserver', 'oracle']) {
  const dir = path.join(root, 'internal/engine', engine, 'checks')
  for (const file of fs.readdirSync(dir)) {
    for (const check of YAML.parse(fs.readFileSync(path.join(dir, file), 'utf8'))) {
      for (const part of ['query', 'population', 'measure', 'unreadable', 'inapplicable']) {
        if (check[part]) queries.push({ name: `${check.id} ${part}`, engine, sql: check[part] })
      }
    }
  }
}
for (const entry of fs.readdirSync(path.join(root, 'internal'), { recursive: true })) {
  if (!entry.endsWith('.sql') || entry.includes('node_modules')) continue
  const sql = fs.readFileSync(path.join(root, 'internal', entry), 'utf8')
  const engine = { 'SQL Server': 'sqlserver', Oracle: 'oracle' }[/^-- (SQL Server|Oracle)\b/.exec(sql)?.[1]]
  // {database} and the like are filled in before the query is sent.
  if (engine) queries.push({ name: `internal/${entry}`, engine, sql: sql.replace(/\{[a-z]+\}/g, 'x') })
}

// The queries of checks as PostgreSQL would be asked them. A test runs them there over planted
// rows: what a query finds is its joins and conditions, which no other server here can try.
// `node lint.mjs --write` brings the file up to date.
const inPostgreSQL = {}
for (const { name, engine, sql } of queries.filter((q) => !q.name.endsWith('.sql')).sort((a, b) => (a.name < b.name ? -1 : 1))) {
  const made = transpile(sql, engine === 'oracle' ? Dialect.Oracle : Dialect.TSQL, Dialect.PostgreSQL)
  if (!made.success) faults.push(`${name}: polyglot has no PostgreSQL for it: ${made.error}`)
  inPostgreSQL[name] = made.sql?.[0]
}
const kept = path.join(root, 'internal/assessment/inspection/testdata/planted/postgresql.json')
const text = JSON.stringify(inPostgreSQL, null, 1) + '\n'
if (process.argv.includes('--write')) fs.writeFileSync(kept, text)
else if (fs.readFileSync(kept, 'utf8') !== text) faults.push('queries have changed: run node scripts/sql_lint/lint.mjs --write')

const used = new Set()
for (const { name, engine, sql } of queries) {
  for (const [parser, read] of Object.entries(parsers)) {
    const said = read(engine, sql)
    if (said && exceptions[name]?.parser === parser) used.add(name)
    else if (said) faults.push(`${name}: ${parser}: ${said}`)
  }
}
for (const name of Object.keys(exceptions)) {
  if (!used.has(name)) faults.push(`${name} is an exception, and needs none`)
}
if (queries.length < 200) faults.push(`only ${queries.length} queries were found`)
for (const fault of faults) console.error(fault)
if (faults.length > 0) process.exit(1)
console.log(`${queries.length} queries for SQL Server and Oracle were read by ${Object.keys(parsers).length} parsers`)
