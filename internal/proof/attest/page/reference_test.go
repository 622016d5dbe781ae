package page

import (
	"testing"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/offline"
)

// TestThePageAgreesWithTheProgram, the reference: of each file the same verdict, and of
// each step the same state.
func TestThePageAgreesWithTheProgram(t *testing.T) {
	t.Parallel()
	all := stored(t)
	page := inNode(t, all)
	for _, v := range all {
		if v.Step == unread { // TestTheProgramAgreesWithTheVectors of both says so
			continue
		}
		keys, err := attest.ParseKeys(read(t, keysPath(v.Keys)))
		must(t, err)
		var beside *attest.Proof
		if v.Proof {
			p, err := attest.ParseProof(v.proof)
			must(t, err)
			beside = &p
		}
		want, got := offline.Check(v.file, beside, v.trust(keys)), page[v.Name]
		if want.Verdict != v.Verdict || firstOff(want.Steps) != v.Step {
			t.Errorf("%s: the program says %s by %q, want %s by %q", v.Name, want.Verdict, firstOff(want.Steps), v.Verdict, v.Step)
		}
		if got.Verdict != want.Verdict || states(got.Steps) != states(want.Steps) {
			t.Errorf("%s: the page says %s, %s\nthe program %s, %s", v.Name, got.Verdict, states(got.Steps), want.Verdict, states(want.Steps))
		}
	}
}

// states are the steps with what came of them.
func states(steps []attest.Step) (all string) {
	for _, s := range steps {
		all += s.Name + " " + string(s.State) + "; "
	}
	return all
}
