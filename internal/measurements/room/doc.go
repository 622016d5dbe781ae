// Package room keeps how much room servers have, and how they are looked after.
//
// # How it works
//
// Once an hour a collector or an agent reads a State from a server (package measure): the sizes of
// databases and tablespaces, the ages of transaction ids, sequences and identity columns near their end,
// the greatest tables with their dead rows and their last vacuum, and the jobs that failed. Record keeps
// the newest State of each server. Package push passes the volumes of hosts to RecordSizes.
//
// Sizes are kept by the day for 100 days, at most one value in three hours. Histories reads them, and
// package forecast says from them when something is full.
//
// # What may go wrong
//
//   - Looks come late or twice: one that is not newer adds nothing.
//   - A server has more objects than a State may name: the worst are named, and Looked and Databases say
//     into how many databases the reader has looked.
//   - A volume is replaced, or another one is mounted in its place: its history jumps, and package
//     forecast does not extrapolate over that.
//   - Names from servers have control characters or are long: they are cleaned and cut.
package room
