// Package audit is the read model of the audit list. It has an entry for every event of
// the reports and the organization log, for every action of a member in the fleet's log, and
// for instances that a feed's token removed, deactivated, renamed or moved.
//
// An entry carries the exact bytes of its event and the time at which it was
// recorded. Trail reads one stream, oldest first; List an organization, newest
// first, over the logs, in one order of time, log and position. Whatever a list
// is narrowed by has an index that holds this order, so that a page of what
// nobody did costs as little as any other.
//
// All else of the fleet's log is machines talking: alerts that fire, databases that
// come and go. Nobody audits them, and there may be thousands a second, so they
// are passed over by the first bytes of their metadata: 20 ns an event, where
// decoding the metadata takes a microsecond. Reading a page out of PostgreSQL is
// what is left, 4 µs an event (BenchmarkPassingMachines).
//
// # What may go wrong
//
//   - An event of a type that this program does not know: it is listed by a name
//     made of its wire name. Nothing is decoded but the metadata.
//   - The logs are read independently, so that List may show an event of one
//     before an older one of another is there. Within a log order holds.
//   - Two entries were recorded at the same time: log and position decide, so
//     that a cursor neither skips nor repeats.
//   - An actor of the fleet's log is neither a member nor the system as this
//     program knows it: it is nobody who could be asked, and is passed over.
package audit
