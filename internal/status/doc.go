// Package status decides whether a server is up. Lists, pages, alerts, the dashboard and the
// API all read its answer.
//
// # How it works
//
// Three facts are kept apart: a server is reachable, it is measured (part by part), and it is
// assessed. Observation is one look of one source at one part; the table observations keeps
// the last one of each, with since when it has come out like that. Decide is a pure function
// of the observations of an instance, the time, and since when Muster has been listening.
//
//	up        a source connected to the engine, and no later attempt failed
//	down      the last attempts to connect failed
//	silent    only others report the server, and none did for three of their intervals
//	unknown   no source looks at the engine, or Muster was not looking
//	inactive  an administrator switched it off
//
// Only a connection to the engine says up or down: Muster's own, an agent's, or an
// exporter's (pg_up, mssql_up, oracledb_up). A feed that sends sessions or statements has
// connected, too. A host's figures say that the host is measured, and nothing else: a host
// outlives its database server.
//
// Where sources disagree, a success counts against a failure only if it came after the
// failure began. So an exporter's last success does not hide that Muster's connection was
// refused since, and an agent that still connects proves that only Muster's path is broken.
//
// How long an observation counts:
//
//	Muster's own connection    60 s      it tries at least every 30 s
//	an agent that connects     60 s      it sends sessions every 10 or 30 s
//	everything else            three of its intervals, at least 3 min
//
// A server is down since its last attempt failed that had succeeded, or since another source
// reached it last: the source that disagreed may be gone by now. How often it went down within
// five minutes is counted (Status.Fell), so that package watch can tell of a server that is
// started again and again, and up at every look. A connection that was lost and is back at
// once counts if another process of the server answers (package measure).
//
// A server that refuses Muster's password, or is full, is down with that reason: nobody can
// say more of it, and exporters do the same. A server that Muster's own settings exclude is
// unknown.
//
// # What may go wrong, and what then happens
//
//   - Muster stands still for ten minutes: its observations are too old, so its servers are
//     unknown until it has tried again. A server is silent only if Muster has listened for as
//     long as the source has been quiet. Nobody is down because Muster slept.
//   - An observation comes twice or late: one that is not newer changes nothing.
//   - A sender's clock is fast: an observation counts from when it came. A sender whose clock
//     is slow by more than five minutes, or an agent that empties its buffer, says nothing
//     about now: such observations are left out.
//   - The connection of an instance is removed and an agent takes over: the newest source
//     decides.
//   - The program dies between keeping samples and keeping observations: the next round says
//     the same.
//   - The database is restored from a backup: the observations are too old, see above.
package status
