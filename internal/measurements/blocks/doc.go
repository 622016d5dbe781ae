// Package blocks defines the storage of measurements after their hour is over: rows that are
// written once and read often, in PostgreSQL or in ClickHouse.
//
// # Head and blocks
//
// The head is the data that is still being written: the raw samples of open hours and their
// rollups. It is always in PostgreSQL (pgstore). If nothing has come for an hour for some
// minutes, pgstore compacts it: it puts the hour's data into blocks and removes it from the
// head. A sample that comes later opens the hour again, with the data of its blocks. So a block
// is always a function of all samples that it covers: nothing is ever added to one, and putting
// it twice changes nothing.
//
// PostgreSQL stays the ledger: only it knows who may write, what is late, what is sealed, and
// which hours are open. If an hour or a longer bucket is in the head, the head counts and not
// the block.
//
// # Series
//
// A block is identified by its subject (organization, kind and subject of its series), its table
// and its start. Series.ID is the number that the ledger in front of it gives the series. A
// store outside PostgreSQL must not identify blocks by it: a ledger that was restored from a
// backup numbers new series differently than the lost one did.
//
// # What may go wrong, and what then happens
//
//   - A process dies between putting blocks and removing their hours from the head: the hours
//     are still open, the head counts, and they are put again.
//   - The answer to Put is lost, or comes late: the same happens.
//   - Two processes put the same block: they hold its series' row in the ledger one after the
//     other. A Put that was given up and arrives after the next one must not replace it
//     (Store.Put).
package blocks
