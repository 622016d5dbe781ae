package offline

import (
	"fmt"

	"muster/internal/proof/attest"
)

// Compare compares files that were given together, by their names. A log has one history, so a
// size has one root and a position one event. If two differ, both are contradicted, because it
// cannot be told which of them is the forgery.
func Compare(answers []Answer, names []string) {
	for i := range answers {
		for j := range answers[:i] {
			if answers[i].Proof == nil || answers[j].Proof == nil {
				continue
			}
			if why := attest.Parted(*answers[i].Proof, *answers[j].Proof); why != "" {
				answers[i].parts(names[j], why)
				answers[j].parts(names[i], why)
			}
		}
	}
}

func (a *Answer) parts(from, why string) {
	detail := fmt.Sprintf("This file and %s come from two histories of one log: %s.", from, why)
	a.Steps = attest.InOrder(append(a.Steps, attest.Step{Name: attest.StepKept, State: attest.Broken, Detail: detail}))
	a.Verdict, a.AtTheLatest, a.Sentence = attest.Contradicted, nil, "This is not what it claims to be. "+detail
}
