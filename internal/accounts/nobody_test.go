package accounts

import "testing"

// TestAnUnknownAccountCostsAsMuchAsAKnownOne: the hash that is verified without an account has the parameters
// of every new hash.
func TestAnUnknownAccountCostsAsMuchAsAKnownOne(t *testing.T) {
	t.Parallel()
	if outdated(nobody) || len(nobody) != len(hash("x")) {
		t.Errorf("%s is not like %s", nobody, hash("x"))
	}
}
