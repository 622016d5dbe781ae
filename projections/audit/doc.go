// Package audit is the read model of the audit list. It has an entry for every event of the
// reports and the organization log, for every action of a member in the fleet's log, and for
// instances that a feed's token removed, deactivated, renamed or moved.
//
// An entry carries the exact bytes of its event and its recorded time. Trail reads one stream,
// oldest first. List reads an organization over all logs, newest first, ordered by time, log and
// position. Every filter of a list has an index in this order, so a page with a filter that
// matches nothing costs as little as any other.
//
// Somebody with the role team sees the entries about their servers, and what they did themselves
// that is about no server (sql/seen.sql). No index has this, so a page reads entries in the order
// of the list until it is full: where few entries are about their servers, it reads many.
//
// All other events of the fleet's log come from machines: alerts that fire, databases that come
// and go. They are not audited, and there may be thousands a second. They are skipped by the
// first bytes of their metadata, which takes 20 ns an event; decoding the metadata would take a
// microsecond. The remaining cost is reading a page from PostgreSQL, 4 µs an event
// (BenchmarkPassingMachines).
//
// # What may go wrong
//
//   - This program does not know the type of an event: it is listed under a name derived from
//     its wire name. Only its metadata is decoded.
//   - The logs are read independently: List may show an event of one log before an older event
//     of another. Within a log, order holds.
//   - Two entries were recorded at the same time: log and position decide, so a cursor neither
//     skips nor repeats an entry.
//   - An actor in the fleet's log is neither a member nor the system as this program knows it:
//     nobody could be asked about the event, and it is skipped.
package audit
