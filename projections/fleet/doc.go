// Package fleet is the read model of what is watched: instances and their
// databases as they are now. What was removed is gone from it.
//
// Its Reader also answers the write side: a report's scope is validated against
// it, and a write to the fleet log is answered after this projection has passed
// it, so that a new id can be used at once.
//
// # What may go wrong
//
//   - An instance is removed while its databases have no event of their own:
//     they go with it.
//   - The projection lags: an instance registered a moment ago is unknown for as
//     long, which the waiting writer bounds and announces.
//   - A change to an instance whose registration was dropped cannot be applied
//     and is parked with its stream.
package fleet
