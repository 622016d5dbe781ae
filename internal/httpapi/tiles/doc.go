// Package tiles answers the dashboard's figures: connections, utilization, query
// performance and wait events.
//
// The tiles with a window cover whole buckets, so that all who ask for the same
// buckets of the same servers are shown one reading for 30 seconds (tile_cache.go),
// each with the window that they asked for. It is kept as the bytes of the answer,
// and packed for all who ask for the same from and to (tile.go). Connections are read for every caller.
//
// Who is behind a figure (contributors.go) is read for every caller too: few ask twice.
// It is the same reading as the tile's, with the names of what it found, removed ones'
// too.
//
// Statements (statements.go) are read likewise: all that were executed in the window, then
// filtered, sorted and cut to a page here, because any of them may come first. Only what a
// page shows is named, and read once more for the window before; only=slower needs that
// of all. Viewers see neither texts nor keys, and a search does not look at texts for
// them, since what it finds would tell.
//
// # What may go wrong
//
//   - Many ask for one tile at once: it is read once, and whoever gave up waiting does
//     not end it for the others. A reading that hangs ends after 20 seconds, as
//     unavailable; one that panics is told as internal_error.
//   - One engine of a tile cannot be read: it is missing in engines, in the log and in
//     muster_tile_engine_dropped_total, and the answer is kept by nobody. If none can,
//     the answer is unavailable or internal_error.
//   - An instance is registered or removed: its past shows in a filtered tile, or ceases
//     to, up to 30 seconds later, with everything else that changed meanwhile.
//   - Tiles are kept by each process for itself: a caller spread over two replicas may
//     see one that is up to 30 seconds older than the one before (generatedAt says so).
//     One that is asked for more than there is room for forgets the oldest tiles, and
//     reads them anew.
package tiles
