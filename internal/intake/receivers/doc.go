// Package receivers makes samples of sessions and statements out of what OpenTelemetry's
// receivers of databases say (sqlserver, oracledb and postgresql of the collector's contrib
// distribution): events, which come as logs, and a few of their metrics. Package otlp
// decodes, package agents looks up what is meant and has the samples kept.
//
// # How it works
//
// A Look is one scrape of one place: what a record says where it is from (Place), its
// engine and its time. Records of the same are added to it in the order in which they
// come; of a session the first counts. All of it is marked as partial, because no
// receiver says all that a tile is made of:
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
// A Reach is what an exporter of databases says in its own up metric (pg_up and its like):
// whether it could connect to its server. It comes by remote_write, or from a collector that
// scrapes the exporter; the server is found by labels, among those of the exporter's engine.
//
// Everything else is passed over and counted (not_used). db.server.top_query of the
// postgresql receiver is dropped (unsupported): it sends an entry that its cache does not
// have with all that was ever counted, after each start of the collector and whenever
// the cache was full, and nothing tells that from what was executed in a minute. A whole
// history in one minute is no part of a figure, it is a wrong one.
//
// An interval that is not told is taken as 60 s, which is the receivers' own default.
//
// # What may go wrong
//
//   - Nothing says which instance it is, or which database: the door drops it (no_instance,
//     no_database). Connections of SQL Server and Oracle name no database, nor do the events
//     of older versions: muster_database has to.
//   - A query plan leaves SQL Server's cache: the receiver sends nothing of its query
//     until the counters are above what they were. One of several plans with one hash
//     comes back after a pause: the receiver's sum jumps by all that it ever executed. Here
//     neither can be seen; the figure is a part, and may be wrong.
//   - Oracle's V$SQL has a session's statement several times: the receiver sends the session
//     as often. It counts once.
//   - A batch processor cuts a scrape in two: its statements come together in the store, of its
//     sessions the first part counts.
//   - A message makes up places, waits and statements without end: beyond MaxLooks and
//     MaxRecords they are dropped and counted (too_many).
package receivers
