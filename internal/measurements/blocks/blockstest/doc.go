// Package blockstest holds every blocks.Store to what the interface promises.
//
// A store is put behind a Backend, which begins transactions and says how the ledger knows
// a series, and handed to Run; Statements are bodies that only a store that reads them can
// get wrong. What may go wrong: a store that copes with the order in which transactions
// happen to come is held to nothing by Run alone. How one gives up a Put that arrives late
// is its own test.
package blockstest
