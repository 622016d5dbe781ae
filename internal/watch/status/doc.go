// Package status decides whether a server is up. Lists, pages, alerts, the dashboard and the API
// all read its answer.
//
// # How it works
//
// Three facts are kept apart: a server is reachable, it is measured (part by part), and it is
// assessed. An Observation is one look of one source at one part. The table observations keeps
// the last one of each, with the time since which the result has been the same. Decide is a pure
// function of the observations of an instance, the time, and the time since which Muster has
// been listening.
//
//	up        a source connected to the engine, and no later attempt failed
//	down      the last attempts to connect failed
//	silent    only others report the server, and none did for three of their intervals
//	unknown   no source looks at the engine, or Muster was not looking
//	inactive  an administrator switched it off
//
// Only a connection to the engine says up or down: Muster's own, an agent's, or an exporter's
// (pg_up, mssql_up, oracledb_up). A feed that sends sessions or statements has connected, too. A
// host's figures say that the host is measured, and nothing else: a host outlives its database
// server.
//
// If sources disagree, a success counts against a failure only if it came after the failure
// began. So an exporter's last success does not hide that Muster's connection was refused since,
// and an agent that still connects proves that only Muster's path is broken.
//
// An observation counts for this long:
//
//	Muster's own connection    60 s      it tries at least every 30 s
//	an agent that connects     60 s      it sends sessions every 10 or 30 s
//	everything else            three of its intervals, at least 3 min
//
// A server is down since the last time at which an attempt failed after a success, or since
// another source last reached it: the source that disagreed may be gone by now. Status.Fell
// counts how often it went down within five minutes, so package watch can report a server that
// is restarted again and again and is up at every look. A connection that was lost and is back
// at once counts if another process of the server answers (package measure).
//
// A server that refuses Muster's password, or is full, is down with that reason: Muster cannot
// know more about it, and exporters do the same. A server that Muster's own settings exclude is
// unknown.
//
// # What may go wrong, and what then happens
//
//   - Muster stands still for ten minutes: its observations are too old, so its servers are
//     unknown until it has tried again. A server is silent only if Muster has listened for as
//     long as the source has been quiet. No server is down because Muster was not running.
//   - An observation comes twice or late: one that is not newer changes nothing.
//   - A sender's clock is fast: an observation counts from the time at which it came. A sender
//     whose clock is slow by more than five minutes, or an agent that empties its buffer, says
//     nothing about the present: such observations are left out.
//   - The connection of an instance is removed and an agent takes over: the newest source
//     decides.
//   - The program dies between storing samples and storing observations: the next round brings
//     the same observations.
//   - The database is restored from a backup: the observations are too old, see above.
package status
