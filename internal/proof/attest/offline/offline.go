package offline

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"time"

	"muster/internal/proof/attest"
	"muster/internal/proof/pades"
	"muster/internal/proof/timestamp"
)

// Answer is what came of checking a file.
type Answer struct {
	Verdict attest.Verdict `json:"verdict"`
	// Sentence says it to a person.
	Sentence string         `json:"sentence"`
	Report   *attest.Report `json:"report"` // the subject of the proof; null: there is none
	// RecordedAt is when the report was ready, by the installation's clock. AtTheLatest is the
	// latest time at which the proof existed, by the clock of a trusted time stamp service or
	// witness, if there is one.
	RecordedAt  *time.Time    `json:"recordedAt"`
	AtTheLatest *time.Time    `json:"atTheLatest"`
	Steps       []attest.Step `json:"steps"`
	Proof       *attest.Proof `json:"-"` // that was checked; nil: there is none
}

// Check checks a PDF with the proof in it, or with one beside it (nil: there is none); and a
// table or an inputs document with the one beside it. If there are both, the one beside it
// counts, because others may have added to it.
func Check(file []byte, beside *attest.Proof, trust attest.Trust) Answer {
	c := &check{trust: trust}
	if beside != nil {
		c.companion = beside.Companion(sha256.Sum256(file))
	}
	if c.companion != "" {
		c.base = file
		c.say(attest.StepSignature, attest.NotAsked, "The file is not a PDF. The event names its digest.")
	} else {
		c.takeApart(file)
	}
	p := c.inside
	if beside != nil {
		if p != nil && p.Report != beside.Report {
			c.say(attest.StepFile, attest.Broken, "The proof given with the file is about a different report than the proof in the file.")
		}
		if p != nil && p.Event.Version != 0 && beside.Event.Version != 0 && p.Event.Version != beside.Event.Version {
			c.say(attest.StepFile, attest.Broken, "The proof given with the file gives the event a different version than the proof in the file.")
		}
		p = beside
	}
	if p == nil {
		if !c.off() {
			c.say(attest.StepFile, attest.Untold, "There is no proof in the file, and none was given with it.")
		}
		c.signedBy(nil)
		return c.answer(nil)
	}
	c.prove(p, sha256.Sum256(c.base))
	return c.answer(p)
}

// prove checks a proof of the file with this SHA-256. The step on the file is the first of all.
func (c *check) prove(p *attest.Proof, file [sha256.Size]byte) {
	ofFile := c.steps
	c.steps = nil
	c.times(*p)
	c.witnesses(*p)
	c.seenThen(*p)
	for _, kept := range c.trust.Kept {
		c.steps = append(c.steps, attest.CheckKept(*p, kept, c.trust.Links))
	}
	ofOthers := c.steps
	_, steps := attest.CheckSeen(file, *p, c.trust, c.seen)
	c.steps = slices.Concat(steps, ofFile)
	c.signedBy(p)
	c.steps = append(c.steps, ofOthers...)
}

type check struct {
	trust     attest.Trust
	base      []byte
	companion string // the report's name for the file; empty: it is the PDF
	inside    *attest.Proof
	signed    *pades.Signature // nil: the PDF bears none that holds
	steps     []attest.Step
	seen      attest.Seen
}

func (c *check) say(name string, state attest.State, format string, args ...any) {
	c.steps = append(c.steps, attest.Step{Name: name, State: state, Detail: fmt.Sprintf(format, args...)})
}

// off says whether a step contradicts.
func (c *check) off() bool {
	for _, s := range c.steps {
		if s.State == attest.Broken {
			return true
		}
	}
	return false
}

// takeApart separates what was built from what was appended, and checks the signature.
func (c *check) takeApart(file []byte) {
	c.base = file
	revisions, err := pades.Split(file)
	var fault *pades.SplitError
	if errors.As(err, &fault) {
		switch fault.Fault {
		case pades.NotPDF:
			c.say(attest.StepSignature, attest.Untold, "The file is not a PDF.")
			return
		case pades.NoUpdate:
			c.say(attest.StepSignature, attest.NotAsked, "The PDF has no signature.")
			return
		case pades.Rewritten:
			c.say(attest.StepSignature, attest.Broken, "The file was changed after Muster built it: %s.", fault.Reason)
		case pades.AfterSignature, pades.NotCovered, pades.Malformed:
			c.say(attest.StepSignature, attest.Broken, "The file was changed after it was signed: %s.", fault.Reason)
		case pades.Altered, pades.Untrusted, pades.Forged, pades.OutsideTerm, pades.NotASignature:
		}
		if fault.Fault != pades.AfterSignature {
			return
		}
	}
	c.base = revisions.Base
	if p, err := attest.ParseKept(revisions.Proof); err == nil {
		c.inside = &p
	}
	var off attest.Step
	if c.signed, off = c.trust.VerifyPDF(revisions); c.signed == nil {
		c.steps = append(c.steps, off)
	}
}

// signedBy judges a valid signature; p is the proof that counts, nil: there is none.
func (c *check) signedBy(p *attest.Proof) {
	if c.signed == nil {
		return
	}
	var content *attest.Dated
	if p != nil {
		content = &attest.Dated{Says: "The report says that it was recorded on", At: p.Event.RecordedAt}
	}
	c.steps = append(c.steps, c.trust.JudgePDF(*c.signed, content, c.seen.Any))
}

// times judges the time stamps: of the PDF's signature, the attestation and the
// checkpoint.
func (c *check) times(p attest.Proof) {
	type token struct {
		what   string
		token  []byte
		digest [sha256.Size]byte
		report bool // it shows the attestation, or all that it says, too
	}
	tokens := []token{{"the report's attestation", p.Attestation.Timestamp, p.Attestation.Imprint(), true}}
	if tree, err := p.Tree(); err == nil {
		tokens = append(tokens, token{"the log's tree", p.CheckpointTimestamp, tree.Imprint(), p.WholeEvent()})
	}
	if c.signed != nil {
		within := c.inside != nil && bytes.Equal(c.inside.Attestation.Signature, p.Attestation.Signature)
		tokens = append(tokens, token{"the PDF's signature", c.signed.Token, sha256.Sum256(c.signed.Value), within})
	}
	there, held := 0, 0
	for _, t := range tokens {
		if t.token == nil {
			continue
		}
		there++
		if c.trust.TSA == nil {
			continue
		}
		stamped, err := timestamp.Verify(t.token, t.digest[:], c.trust.TSA)
		if err != nil {
			c.say(attest.StepTimestamp, attest.Broken, "The time stamp of %s is not valid: %v.", t.what, err)
			continue
		}
		held++
		c.by(stamped.At, t.report)
		c.say(attest.StepTimestamp, attest.Held, "%s existed on %s, by the clock of %s.", sentence(t.what), stamp(stamped.At), stamped.Signer.Subject.CommonName)
	}
	switch {
	case c.trust.TSA == nil && there > 0:
		c.say(attest.StepTimestamp, attest.NotAsked, "There is a time stamp, but you named no time stamp service that you trust.")
	case c.trust.TSA == nil:
		c.say(attest.StepTimestamp, attest.NotAsked, "There is no time stamp.")
	case there == 0:
		c.say(attest.StepTimestamp, attest.Untold, "There is no time stamp to check.")
	}
}

// by notes that it was there at a time, by a clock that is trusted; report: the
// attestation, or all that it says, too.
func (c *check) by(at time.Time, report bool) {
	at = at.UTC()
	if c.seen.Any.IsZero() || at.Before(c.seen.Any) {
		c.seen.Any = at
	}
	if report && (c.seen.Report.IsZero() || at.Before(c.seen.Report)) {
		c.seen.Report = at
	}
}

// seenThen holds the earliest time at which others had seen it against the event's. What
// was seen once within a day may be seen again at any later time.
func (c *check) seenThen(p attest.Proof) {
	recorded := p.Event.RecordedAt
	if c.seen.Any.IsZero() || !attest.Apart(recorded, c.seen.Any) {
		return
	}
	name := attest.StepWitness
	for _, s := range c.steps {
		if s.Name == attest.StepTimestamp && s.State == attest.Held {
			name = attest.StepTimestamp
		}
	}
	c.say(name, attest.Broken, "The report says that it was recorded on %s, but the first outside clock that saw it says %s: the report's time is wrong.", stamp(recorded), stamp(c.seen.Any))
}

// witnesses counts who else has signed the checkpoint.
func (c *check) witnesses(p attest.Proof) {
	if len(c.trust.Witnesses) == 0 {
		c.say(attest.StepWitness, attest.NotAsked, "No witness was named.")
		return
	}
	seen := 0
	for _, w := range c.trust.Witnesses {
		at, ok := attest.Cosigned(p.Checkpoint, w.Verifier)
		if !ok {
			continue
		}
		seen++
		c.by(at, p.WholeEvent())
		c.say(attest.StepWitness, attest.Held, "Witness %s signed the log's tree on %s.", w.Name(), stamp(at))
	}
	switch {
	case seen == 0:
		c.say(attest.StepWitness, attest.Untold, "None of the %d named witnesses has signed the log's tree.", len(c.trust.Witnesses))
	case seen < c.trust.Needed:
		c.say(attest.StepWitness, attest.Untold, "%d of the %d named witnesses have signed the log's tree, and %d are needed.", seen, len(c.trust.Witnesses), c.trust.Needed)
	}
}

func (c *check) answer(p *attest.Proof) Answer {
	a := Answer{Verdict: attest.VerdictOf(c.steps), Steps: attest.InOrder(c.steps)}
	if p != nil {
		at := p.Event.RecordedAt.UTC()
		a.Report, a.RecordedAt, a.Proof = &p.Report, &at, p
	}
	switch a.Verdict {
	case attest.Holds:
		if !c.seen.Any.IsZero() {
			a.AtTheLatest = &c.seen.Any
		}
		what := ""
		if c.companion != "" {
			what = c.companion + " of "
		}
		a.Sentence = fmt.Sprintf("This is %s%s report %s as it was built, recorded on %s", what, p.Report.Kind, p.Report.ID, stamp(p.Event.RecordedAt))
		if a.AtTheLatest != nil {
			a.Sentence += fmt.Sprintf(". It existed on %s at the latest, by a clock outside the installation", stamp(c.seen.Any))
		}
		a.Sentence += "."
	case attest.Contradicted:
		a.Sentence = "This is not what it claims to be. " + attest.FirstOff(c.steps)
	case attest.CannotTell:
		a.Sentence = "The given files are not enough to tell. " + attest.FirstOff(c.steps)
	}
	return a
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

func sentence(words string) string { return string(bytes.ToUpper([]byte(words[:1]))) + words[1:] }
