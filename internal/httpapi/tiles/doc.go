// Package tiles serves the figures of the dashboard: connections, utilization, query performance
// and wait events.
//
// Tiles with a window cover whole buckets. So all callers who request the same buckets of the
// same servers get one reading for 30 seconds (tile_cache.go), each with the window that they
// requested. It is kept as the bytes of the answer, and compressed for all who request the same
// from and to (tile.go). Connections are read for every caller.
//
// The contributors to a figure (contributors.go) are read for every caller too, because few
// callers repeat the request. They come from the same reading as the tile, with their names,
// also those of removed ones.
//
// What sessions do (activity.go) is cached as tiles are, by what is asked for. Viewers may not ask
// whose sessions they are. Names and texts are side figures.
//
// Statements (statements.go) are read in the same way: all that were executed in the window are
// filtered, sorted and cut to a page here, because any of them may come first. Only the
// statements of the page get their names and their figures of the previous window; only=slower
// needs these for all. Viewers see neither texts nor keys. Their searches do not look at texts,
// because the results would reveal them.
//
// # What may go wrong
//
//   - Many callers request one tile at once: it is read once, and a caller who gives up does not
//     end it for the others. A reading that hangs ends after 20 seconds, as unavailable. One
//     that panics ends as internal_error.
//   - One engine of a tile cannot be read: it is missing in engines, the log and
//     muster_tile_engine_dropped_total report it, and the answer is not cached. If none can be
//     read, the answer is unavailable or internal_error.
//   - An instance is registered or removed: its past appears in a filtered tile, or disappears,
//     up to 30 seconds later, with all other changes of that time.
//   - Each process caches tiles for itself: a caller spread over two replicas may see one that
//     is up to 30 seconds older than the one before (generatedAt says so). A process that is
//     asked for more tiles than it has room for drops the oldest, and reads them anew.
package tiles
