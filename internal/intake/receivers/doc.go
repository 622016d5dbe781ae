// Package receivers makes samples of sessions and statements from the output of OpenTelemetry's
// database receivers (sqlserver, oracledb and postgresql of the collector's contrib
// distribution): events, which come as logs, and a few of their metrics. Package otlp decodes
// them. Package agents resolves the names and has the samples stored.
//
// # How it works
//
// A Look is one scrape of one place: the origin that a record names (Place), its engine and its
// time. Records of the same Look are added to it in the order in which they come; for a session,
// the first counts. Everything is marked as partial, because no receiver sends all that a tile
// needs:
//
//	sqlserver   db.server.query_sample   waits: requests with a wait_type. The receiver sends the
//	                                     first max_rows_per_query (100), in no order.
//	            db.server.top_query      statements by query_hash. Differences against a cache of
//	                                     max_query_sample_count (1000) that TOP(n) without an order
//	                                     fills, and of them the top_query_count (250) that took longest.
//	            sqlserver.user.connection.count   connections, in one number for the instance
//	oracledb    db.server.query_sample   waits: active sessions of users by wait_class, likewise
//	            db.server.top_query      statements by sql_id, likewise
//	            oracledb.sessions.usage  connections of users: active (those that wait are among
//	                                     them), inactive, and others
//	postgresql  db.server.query_sample   waits: active sessions by wait_event_type. Idle ones wait for
//	                                     their clients, too, and are not sent; newer versions send a
//	                                     session that goes on waiting once.
//	            postgresql.backends      connections of a database in one number, autovacuum
//	                                     and parallel workers among them
//
// A Reach is the value of a database exporter's own up metric (pg_up and the like): whether it
// could connect to its server. It comes by remote_write, or from a collector that scrapes the
// exporter. The server is found by labels, among the servers of the exporter's engine.
//
// Everything else is skipped and counted (not_used). db.server.top_query of the postgresql
// receiver is dropped (unsupported): it sends an entry that is not in its cache with its whole
// history, after each start of the collector and whenever the cache was full. Nothing
// distinguishes that from the executions of one minute. A whole history in one minute is not a
// partial figure but a wrong one.
//
// An interval that is not stated is taken as 60 s, which is the receivers' own default.
//
// # What may go wrong
//
//   - Nothing says which instance a record is about, or which database: the door drops it
//     (no_instance, no_database). Connections of SQL Server and Oracle name no database, nor do
//     the events of older versions: muster_database has to name it.
//   - A query plan leaves SQL Server's cache: the receiver sends nothing about its query until
//     the counters exceed their earlier values. If one of several plans with one hash comes back
//     after a pause, the receiver's sum jumps by all executions of that plan. Neither can be
//     detected here; the figure is partial, and may be wrong.
//   - Oracle's V$SQL has a session's statement several times: the receiver sends the session as
//     often. It counts once.
//   - A batch processor cuts a scrape in two: its statements are joined in the store. Of its
//     sessions, the first part counts.
//   - A message invents places, waits and statements without end: beyond MaxLooks and MaxRecords
//     they are dropped and counted (too_many).
package receivers
