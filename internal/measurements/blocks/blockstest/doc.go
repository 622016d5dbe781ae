// Package blockstest tests every blocks.Store against the promises of the interface.
//
// A store is put behind a Backend, which begins transactions and says how the ledger identifies
// the series, and is passed to Run. Statements are bodies that only a store that reads them can
// get wrong. What may go wrong: Run does not detect a store that only works for the order in
// which transactions happen to come. Each store needs its own test of how it handles a Put that
// arrives late.
package blockstest
