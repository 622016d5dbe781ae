// Package drops keeps which engines the tiles of the dashboard were answered without,
// for whoever looks at the page of operations.
//
// # How it works
//
// Note counts in memory and returns at once: a tile is not kept waiting for its own
// failure to be written down. Run adds what was counted to the table engine_drops once
// a second, all of it in one statement, so that an engine that fails at every request
// costs a process one write a second. Several processes add to the same rows.
//
// # What may go wrong, and what then happens
//
//   - The database cannot be written to, which may be why the engine could not be read:
//     what was counted stays, and is added with the next write that succeeds.
//   - A process is killed: the drops of its last second are not counted here. The
//     figure muster_tile_engine_dropped_total is counted for itself.
//   - What a driver says may quote a host, a user or a query. It is never kept: a row
//     has one of four sentences, and the log has the rest.
package drops
