// Package audit is the read model of who did what: an entry for every event of
// the reports and the organization log.
//
// An entry carries the exact bytes of its event and the time at which it was
// recorded. Trail reads one stream, oldest first; List an organization, newest
// first, over both logs, in one order of time, log and position. Whatever a list
// is narrowed by has an index that holds this order, so that a page of what
// nobody did costs as little as any other.
//
// # What may go wrong
//
//   - An event of a type that this program does not know: it is listed by a name
//     made of its wire name. Nothing is decoded but the metadata.
//   - The two logs are read independently, so that List may show an event of one
//     before an older one of the other is there. Within a log order holds.
//   - Two entries were recorded at the same time: log and position decide, so
//     that a cursor neither skips nor repeats.
package audit
