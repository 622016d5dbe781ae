package accounts

import "testing"

// TestNobodyCostsAsMuch: what is verified where there is no account was made with the
// parameters of every new hash.
func TestNobodyCostsAsMuch(t *testing.T) {
	t.Parallel()
	if outdated(nobody) || len(nobody) != len(hash("x")) {
		t.Errorf("%s is not like %s", nobody, hash("x"))
	}
}
