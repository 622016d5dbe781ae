// Package fleet is the read model of the monitored instances and their databases, as they are
// now. It keeps the last name of removed ones (Names), under which their measurements are shown.
//
// Its Reader also serves the write side: a report's scope is validated against it. A write to
// the fleet log is answered after this projection has passed it, so a new id can be used at
// once.
//
// A filter by ids or names is resolved to the matching live instances (Scope). A filter that
// matches nothing means no instances, and never all of them. Counts and the first registration
// are read from indexes alone. Named and DatabasesNamed find the instances and databases that a
// label of an alert may mean. DatabasesIn and HostsIn find the databases and hosts that the
// measurements of a scope cover.
//
// # What may go wrong
//
//   - An instance is removed, and its databases have no event of their own: they are removed
//     with it.
//   - The projection lags: an instance registered a moment ago is unknown during the lag. The
//     waiting writer limits that time and announces it.
//   - An instance is removed between the resolution of a filter and the count over it: it counts
//     as zero, as it does afterwards.
//   - A change to an instance whose registration was dropped cannot be applied. It is parked
//     with its stream.
package fleet
