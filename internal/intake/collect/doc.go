// Package collect assesses the servers that have a registered connection: every six hours, on
// demand, and when a report needs fresher facts.
//
// A lease on a due server is claimed (package assessment), so any number of processes with the
// role collectors share the work. While it holds the claim, a collector assesses the server,
// classifies its databases, records version and databases through the commands, and then stores
// the result and ends the claim in one transaction. A caller who requests an assessment while
// another is running waits for that one. Waiting means reading the row from time to time; it is
// rare.
//
// Organizations take turns (internal/concurrency/fairslots). A process assesses eight servers at once, and at
// most four of one organization, however slow they are. Two light looks run at once, of two
// organizations. An assessment for which somebody waits (AssessNow, Fresh) takes none of these
// slots: a build has some servers assessed at once, and builds take turns themselves.
//
// Between two assessments of a server, LookLightly checks every five minutes whether it has
// changed. An inspector that supports it (PostgreSQL's) makes a digest of the server's state,
// with one connection and two statements. If the digest differs from the last one, the server is
// due. Nothing else of it is stored.
//
// What may go wrong:
//
//   - The process dies at any line: its lease runs out and the server is due again. What the
//     commands recorded before is recorded again, which changes nothing.
//   - A lease runs out while its holder is still at work (a stopped machine, a long pause): the
//     holder finds its token gone and ends its assessment, and its result is dropped. Two
//     collectors may assess a server at once; one of them records.
//   - Two processes claim at once: SKIP LOCKED gives each another server.
//   - Clocks: due times, leases and ages are judged by the database's clock alone. A collector's
//     own clock only sets the times at which an assessment began and ended.
//   - The server cannot be reached: that is recorded, the last good facts stay, and it is tried
//     again in a quarter of an hour.
//   - The server answers slowly: an assessment ends after five minutes (inspection.LookLimit).
//     Facts read until then are stored; the other checks are not assessed, and say so. The next
//     assessment comes at the usual time, and classifies the databases in another order.
//   - The instance is removed or deactivated meanwhile: nothing is assessed. A deactivated one
//     is checked again twice a minute. The connection of a removed one is erased, whoever
//     removed it.
//   - Somebody requests an assessment while one is running: there will be another one, because
//     their change may have come too late for this one.
//   - SIGTERM: assessments end at their next statement, and their claims are released at once.
package collect
