// Package backups keeps the newest backups of servers and their databases, and judges their age.
//
// # How it works
//
// A source says which backups there are: a server's own records (msdb, RMAN's views, PostgreSQL's
// archiver), a backup tool beside an agent, or the feed. What it says at a time is a Look. Record keeps
// of each source its newest Look, of each database, kind and source the newest backup, and for 400 days
// the minutes in which backups ended.
//
// StandingsOf says of each database until when it can be restored. A database needs a whole backup
// (Kind.Whole), of itself or of the server. The end of the newest backup after that, of any kind, is the
// time to which it can be restored, and its distance from now is the age that is compared with the
// recovery point objective (RPO).
//
// Replay says the same of a past time, from the minutes: the greatest age of each day (Days), and when an
// age passed a limit (package watch).
//
// # What is not known
//
// Muster never takes what it does not know for a backup, and never for the lack of one:
//
//   - WAL is archived, but no source tells of a base backup: Unknown.
//   - A source that lists all backups of a database (Look.Complete) has none of it: None. The age is
//     counted from the creation of the database, or from the beginning of what the source was asked for.
//   - No source tells anything: there is no Standing.
//
// A backup that somebody deleted afterwards, or that cannot be read, is not known to be gone.
//
// # What may go wrong
//
//   - Looks come late, twice or out of order: the newest backup wins, and a minute is kept once.
//   - A source's clock is off: a server's times are read as ages, which only its own clock enters.
//     A backup that ends in the future is dropped (looks), or refused (feed).
//   - Two sources tell of the same backup: both are kept, and the newest end counts.
//   - Names and tools come from machines: they are cleaned and cut.
package backups
