package offline_test

import (
	"strings"
	"testing"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/proof/attest/offline"
)

// TestFilesOfTwoHistories: given at once, both are contradicted, and each names the other. What
// has no proof is left as it is.
func TestFilesOfTwoHistories(t *testing.T) {
	t.Parallel()
	ours := attesttest.New(t, "ours").Prove([]byte("%PDF one"), 3, 7)
	same, other := ours, ours
	other.Event.Hash = strings.Repeat("0", 64)
	answers := func(proofs ...*attest.Proof) (all []offline.Answer) {
		for _, p := range proofs {
			all = append(all, offline.Answer{Verdict: attest.Holds, Proof: p})
		}
		return all
	}
	all := answers(&ours, &same, nil)
	offline.Compare(all, []string{"a", "b", "c"})
	for i, a := range all {
		if a.Verdict != attest.Holds || len(a.Steps) != 0 {
			t.Errorf("file %d of one history: %+v", i, a)
		}
	}
	all = answers(&ours, &other)
	offline.Compare(all, []string{"a", "b"})
	for i, name := range []string{"b", "a"} {
		if all[i].Verdict != attest.Contradicted || !strings.Contains(all[i].Sentence, "This file and "+name+" come from two histories of one log: there are two events") {
			t.Errorf("file %d: %+v", i, all[i])
		}
	}
}
