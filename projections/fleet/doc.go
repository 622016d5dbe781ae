// Package fleet is the read model of the watched instances and their databases, as they
// are now. Of removed ones it keeps the last name (Names), under which their measurements
// are shown.
//
// Its Reader also answers the write side: a report's scope is validated against
// it, and a write to the fleet log is answered after this projection has passed
// it, so that a new id can be used at once.
//
// A filter by ids or names comes down to the live instances that it means (Scope);
// what it does not match is nothing, and never everything. Counts and the first
// registration are read from indexes alone. What a label of an alert may call an
// instance or a database, Named and DatabasesNamed find; what the measurements of a
// scope are about, DatabasesIn and HostsIn.
//
// # What may go wrong
//
//   - An instance is removed while its databases have no event of their own:
//     they go with it.
//   - The projection lags: an instance registered a moment ago is unknown for as
//     long, which the waiting writer bounds and announces.
//   - An instance is removed between the resolution of a filter and the count over
//     it: it counts as it does afterwards, zero.
//   - A change to an instance whose registration was dropped cannot be applied
//     and is parked with its stream.
package fleet
