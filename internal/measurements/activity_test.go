package measurements

import "testing"

// TestHashesOfPeopleNeedTheKey: the same name has another hash with another key, and names of waits
// have the same with any.
func TestHashesOfPeopleNeedTheKey(t *testing.T) {
	t.Parallel()
	ours, theirs := NameKey{1}, NameKey{2}
	for _, of := range []Dimension{DimUser, DimApplication, DimClient} {
		if ours.Hash(of, "ada") == theirs.Hash(of, "ada") || ours.Hash(of, "ada") != ours.Hash(of, "ada") || ours.Hash(of, "ada") == ours.Hash(of, "eve") {
			t.Errorf("%s: %x and %x", of, ours.Hash(of, "ada"), theirs.Hash(of, "ada"))
		}
		if ours.Hash(of, "") != 0 {
			t.Errorf("%s: no name has a hash", of)
		}
	}
	if ours.Hash(DimUser, "ada") == ours.Hash(DimClient, "ada") {
		t.Error("a user is a client")
	}
	if ours.Hash(DimWaitEvent, "relation") != theirs.Hash(DimWaitEvent, "relation") {
		t.Error("a wait is another one for another organization")
	}
}
