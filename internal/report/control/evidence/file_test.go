package evidence_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/tlog"

	"muster/internal/proof/attest"
	"muster/internal/proof/attest/attesttest"
	"muster/internal/proof/timestamp"
	"muster/internal/proof/timestamp/timestamptest"
	"muster/internal/report/control/evidence"
)

// TestEvidenceFile judges the times, the time stamp and the signed trees of evidence, and names
// the first that is off.
func TestEvidenceFile(t *testing.T) {
	t.Parallel()
	authority := timestamptest.New(t, timestamptest.Now())
	service := timestamp.Service{URL: authority.Serve(t)}
	ours := attesttest.New(t, "ours")
	now := time.Now().UTC().Truncate(time.Second)
	ours.Begin = now.AddDate(0, 0, -20)
	log := ours.Prove([]byte("%PDF"), 3, 9000).Checkpoint // of log reports
	ofFleet := *ours
	ofFleet.Origin = strings.TrimSuffix(ours.Origin, "reports") + "fleet"
	fleet := ofFleet.Sign(9000, tlog.Hash{})
	ended, long := now.Add(time.Minute), now.AddDate(0, 0, -9)
	foreign := attesttest.New(t, "theirs").Prove([]byte("%PDF"), 3, 9000).Checkpoint
	for name, c := range map[string]struct {
		asOf    time.Time
		stamp   bool
		change  func(d *evidence.Document)
		key     func(k *attest.Key)
		logKey  func(k *attest.Key)
		unasked bool // no trusted time stamp authority is named
		verdict attest.Verdict
		says    string
	}{
		"stamped":                         {asOf: now, stamp: true, verdict: attest.Holds},
		"without a time stamp":            {asOf: now, verdict: attest.CannotTell, says: "no time stamp"},
		"stamped, the key retired since":  {asOf: now, stamp: true, key: func(k *attest.Key) { k.ValidTo = &ended }, verdict: attest.Holds},
		"stamped, of a month before":      {asOf: now.AddDate(0, -1, 0), stamp: true, verdict: attest.Contradicted, says: "one of the two is wrong"},
		"of next week":                    {asOf: now.AddDate(0, 0, 7), verdict: attest.Contradicted, says: "is in the future"},
		"a signed tree that covers it":    {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Checkpoints[0].Note = log }, verdict: attest.Holds},
		"a tree that is smaller":          {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Witnesses[0] = "reports:9001:ab" }, verdict: attest.Contradicted, says: "does not cover"},
		"a tree of another log":           {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Checkpoints[0].Log = "fleet" }, verdict: attest.Contradicted, says: "does not cover"},
		"a tree that was changed":         {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Checkpoints[0].Note = strings.Replace(log, "\n9000\n", "\n9999\n", 1) }, verdict: attest.Contradicted, says: "changed after it was signed"},
		"a log without a signed tree":     {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Checkpoints = d.Checkpoints[:1] }, verdict: attest.CannotTell, says: "has no signed tree of it"},
		"an empty log has none":           {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Checkpoints, d.Witnesses[1] = d.Checkpoints[:1], "fleet:0:00" }, verdict: attest.Holds},
		"of before there were trees":      {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Checkpoints = nil }, verdict: attest.Holds},
		"a tree signed by nobody known":   {asOf: now, stamp: true, change: func(d *evidence.Document) { d.Checkpoints[0].Note = foreign }, verdict: attest.CannotTell, says: "None of the given keys signed the tree of log reports"},
		"the log key retired since":       {asOf: now, stamp: true, logKey: func(k *attest.Key) { k.ValidTo = &ended }, verdict: attest.Holds},
		"and nothing shows that it was":   {asOf: now, logKey: func(k *attest.Key) { k.ValidTo = &ended }, unasked: true, verdict: attest.CannotTell, says: "No trusted clock shows"},
		"the log key retired long before": {asOf: now, stamp: true, logKey: func(k *attest.Key) { k.ValidTo = &long }, verdict: attest.Contradicted, says: "was retired on"},
		"the log key made later":          {asOf: now, stamp: true, logKey: func(k *attest.Key) { k.ValidFrom = now.AddDate(0, 0, 2) }, verdict: attest.Contradicted, says: "did not exist before"},
		"a key that was there only later": {asOf: now, stamp: true, key: func(k *attest.Key) { k.ValidFrom = now.AddDate(0, 0, 2) }, verdict: attest.Contradicted, says: "did not exist before"},
	} {
		t.Run(name, func(t *testing.T) { // one after the other: OpenSSL numbers its stamps in a file
			d := quarter(1)
			d.AsOf, d.Witnesses = c.asOf, []string{"reports:9000:ab", d.Witnesses[1]}
			d.Checkpoints = []evidence.Checkpoint{{Log: "reports", Size: 9000, Note: log}, {Log: "fleet", Size: 9000, Note: fleet}}
			if c.change != nil {
				c.change(&d)
			}
			signed, err := evidence.Sign(d, key(1))
			if err != nil {
				t.Fatal(err)
			}
			if c.stamp {
				imprint := signed.Imprint()
				if signed.Timestamp, err = service.Stamp(t.Context(), imprint[:]); err != nil {
					t.Fatal(err)
				}
			}
			file, err := signed.Encode()
			if err != nil {
				t.Fatal(err)
			}
			keys := keysOf(t, key(1))
			if c.key != nil {
				c.key(&keys.Keys[0])
			}
			logs := slices.Concat(ours.Keys().Of(attest.UseLog), ofFleet.Keys().Of(attest.UseLog))
			for i := range logs {
				if c.logKey != nil {
					c.logKey(&logs[i])
				}
			}
			keys.Keys = append(keys.Keys, logs...)
			trust := attest.Trust{Keys: keys, TSA: authority.Roots(), Now: now}
			if c.unasked {
				trust.TSA = nil
			}
			got := evidence.CheckFile(file, trust)
			if got.Verdict != c.verdict || !strings.Contains(got.Sentence, c.says) || !evidence.Is(file) {
				t.Errorf("it %s: %s\n%+v", got.Verdict, got.Sentence, got.Steps)
			}
		})
	}
}
