package signing

import (
	"fmt"

	"github.com/jmoiron/sqlx"

	"muster/eventstore"
	"muster/internal/proof/attest"
)

// Fold is the result of events of the log keys, whoever signed them.
func Fold(installation string, events []eventstore.Event) ([]attest.Key, error) {
	var f fold
	for _, e := range events {
		if wrong := f.apply(e, installation); wrong != "" {
			return nil, fmt.Errorf("%s %s", e.Type, wrong)
		}
		f.last = e.Data
	}
	var keys []attest.Key
	for _, k := range f.keys {
		keys = append(keys, k.Key)
	}
	return keys, nil
}

// DB is where an installation's logs are.
func (s *Signing) DB() *sqlx.DB { return s.db }
