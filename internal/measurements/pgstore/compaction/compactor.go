package compaction

import (
	"muster/internal/measurements/pgstore/dictionary"
	"muster/internal/measurements/pgstore/ledger"
)

// Compactor compacts and seals the hours of a ledger, and forgets what is older than its
// retention.
type Compactor struct {
	ledger     *ledger.Ledger
	dictionary *dictionary.Dictionary
}

// Of returns a compactor of a ledger and of its dictionary.
func Of(l *ledger.Ledger, d *dictionary.Dictionary) *Compactor {
	return &Compactor{ledger: l, dictionary: d}
}
