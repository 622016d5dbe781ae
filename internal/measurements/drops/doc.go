// Package drops records for the page of operations which engines were missing from the answers
// of tiles.
//
// # How it works
//
// Note counts in memory and returns at once: a tile does not wait for the record of its own
// failure. Run adds the counts to the table engine_drops once a second, in one statement, so an
// engine that fails at every request costs a process one write a second. Several processes add
// to the same rows.
//
// # What may go wrong, and what then happens
//
//   - The database cannot be written to, which may also be why the engine could not be read: the
//     counts stay, and are added with the next write that succeeds.
//   - A process is killed: the drops of its last second are not counted here. The metric
//     muster_tile_engine_dropped_total is counted separately.
//   - The text of a driver may quote a host, a user or a query. It is never stored: a row has
//     one of four sentences, and the log has the rest.
package drops
