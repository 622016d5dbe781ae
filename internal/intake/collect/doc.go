// Package collect assesses the servers that have a connection registered:
// every six hours, on demand, and when a report needs fresher facts.
//
// A due server is claimed by a lease (package assessment), so any number of
// processes with the role collectors share the work. Holding the claim, a
// collector assesses the server, classifies its databases, records version and
// databases through the commands, and then keeps the outcome and ends the claim
// in one transaction. Whoever asks for an assessment while another is under way
// waits for that one. Waiting is a look at the row from time to time; it is rare.
//
// Organizations take turns (internal/turns): a process looks at eight servers at once, and
// at four of one organization at most, however slow they are. Light looks are two at once,
// of two organizations. A look that somebody waits for (AssessNow, Fresh) takes none of these
// slots: a build has some servers looked at at once, and builds take turns themselves.
//
// Between two assessments of a server, LookLightly looks every five minutes whether it has
// changed: an inspector that can (PostgreSQL's) makes a digest of what the server is like,
// with one connection and two statements, and another digest than the last makes the server
// due. Nothing else is kept of it.
//
// What may go wrong:
//
//   - The process dies at any line: its lease runs out and the server is due
//     again. What the commands recorded before is recorded again, which changes
//     nothing.
//   - A lease runs out while its holder is still at work (a stopped machine, a
//     long pause): the holder finds its token gone, ends its look, and what it
//     found is dropped. Two collectors may look at a server at once; one records.
//   - Two processes claim at once: SKIP LOCKED gives each another server.
//   - Clocks: what is due, leases and ages are by the database's clock alone. A
//     collector's own clock only stamps when a look began and ended.
//   - The server is out of reach: that is recorded, the last good facts stay,
//     and it is tried again in a quarter of an hour.
//   - The server answers slowly: a look ends after five minutes (inspection.LookLimit). What
//     was read is kept; what was not is not assessed, and says so. The next look comes as
//     after any other, and classifies the databases in another order.
//   - The instance is removed or deactivated meanwhile: nothing is assessed. A
//     deactivated one is looked for again twice a minute; the connection of a
//     removed one is erased, whoever removed it.
//   - Somebody asks for a look while one is under way: there will be another,
//     for what they changed may have come too late for this one.
//   - SIGTERM: looks end at their next statement, and their claims are given
//     back at once.
package collect
