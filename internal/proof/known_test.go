package proof_test

import (
	"strings"
	"testing"
	"time"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/proof"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/prooftest"
	"muster/internal/testing/pgtest"
)

// TestAProofExtendsTheEarlierOne: of two reports of an organization the later one's proof leads to the tree of
// the first one's, so that a reader who kept that needs nothing else.
func TestAProofExtendsTheEarlierOne(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	maker := s.maker
	first, err := maker.Make(t.Context(), s.org, s.report)
	must(t, err)
	kept, err := first.Tree()
	must(t, err)
	later, _ := s.ready(report.Security, "third")
	second, err := maker.Make(t.Context(), s.org, later)
	must(t, err)
	if len(first.Consistency) != 0 || len(second.Consistency) != 1 || second.Consistency[0].From != kept.Size {
		t.Errorf("the proofs go on from %+v and %+v", first.Consistency, second.Consistency)
	}
	if step := attest.CheckKept(second, kept, nil); step.State != attest.Held {
		t.Errorf("%+v", step)
	}
	kept.Root[0] ^= 1
	if step := attest.CheckKept(second, kept, nil); step.State != attest.Broken {
		t.Errorf("of another history: %+v", step)
	}
}

// TestARecipientWhoWasRemoved: an attacker removes a mail from the log and computes the chain
// anew, while no process runs. The report's own proof, which the database still has, is over a
// tree that the log no longer has. So is any other, which Hold finds.
func TestARecipientWhoWasRemoved(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		keep, want string
		held       bool
	}{
		"its own proof is left": {keep: `report_id = $1`, want: "the log was changed since: its first"},
		"another's is left":     {keep: `report_id <> $1`, want: "says that the first", held: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			maker := s.maker
			_, err := maker.Make(t.Context(), s.org, s.report)
			must(t, err)
			other, _ := s.ready(report.Security, "third")
			_, err = maker.Make(t.Context(), s.org, other)
			must(t, err)
			s.request(report.Security) // the log goes on
			pgtest.Unguard(t, s.db)
			prooftest.Remove(t, s.db, s.report, "report.email_sent")
			s.db.MustExec(`ALTER TABLE log_checkpoints DISABLE TRIGGER USER; DELETE FROM log_checkpoints`)
			s.db.MustExec(`DELETE FROM report_proofs WHERE NOT (`+tc.keep+`)`, s.report)
			maker.Checkpoints = checkpoint.New(s.db, maker.Signing) // another process
			maker.Checkpoints.Proofs = proof.Signed(s.db)
			if fault, err := maker.Prover.Record(t.Context(), s.org, s.report); err != nil || fault != "" {
				t.Fatalf("the chain was to be whole: %s, %v", fault, err)
			}
			if tc.held {
				_, err := maker.Checkpoints.Hold(t.Context(), eventstore.Reports)
				must(t, err)
			}
			found, ok, err := maker.Find(t.Context(), s.org, s.digest, time.Now())
			must(t, err)
			if !ok || !strings.Contains(found.Fault, tc.want) {
				t.Errorf("known %t, fault %q", ok, found.Fault)
			}
			if _, err := maker.Checkpoints.Makes(t.Context(), eventstore.Reports, 1); !checkpoint.Changed(err) {
				t.Errorf("the changed log is signed on: %v", err)
			}
		})
	}
}
