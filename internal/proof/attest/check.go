package attest

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/internal/text/uniquekeys"
)

// Step is a part of a check.
type Step struct {
	Name   string `json:"name"`
	State  State  `json:"state"`
	Detail string `json:"detail"` // a sentence
}

// State is what came of a step.
type State string

// The states.
const (
	Held     State = "held"
	Broken   State = "broken"    // it contradicts what is claimed
	Untold   State = "untold"    // an input that it needs is missing
	NotAsked State = "not asked" // it adds to the proof where it is there
)

// The steps, in order.
const (
	StepFile        = "file"        // the PDF is the one that the proof is about
	StepEvent       = "event"       // the event says so, and has the digest and hash that it claims
	StepInclusion   = "inclusion"   // the log has the event
	StepCheckpoint  = "checkpoint"  // the installation signed the log's tree
	StepAttestation = "attestation" // the installation signed the report
	StepSignature   = "signature"   // the PDF is signed, to its last byte
	StepTimestamp   = "timestamp"   // another party's clock
	StepWitness     = "witness"     // others have seen the log's tree
	StepKept        = "kept"        // the log's tree goes on from one that was kept, or that one from it
)

// Trust is what a check rests on. It comes from elsewhere than what is checked.
type Trust struct {
	Keys      Keys
	TSA       *x509.CertPool // the trusted time stamp authorities; nil: none
	Witnesses []Witness
	Needed    int       // how many of them have to have signed; 0: one
	Now       time.Time // by the verifier's clock; zero: not read
	// Logged is for a verifier who has the log itself. The position in the log shows when an
	// event was recorded: signatures from before a key ended count without another clock.
	Logged bool
	Kept   []Tree        // kept checkpoints: the log's tree has to continue them, or they the tree
	Links  []Consistency // links from one tree to another, in addition to the proof's own
}

// signers are the verifiers of a log's keys, and these keys.
func (t Trust) signers(origin string) (note.Verifiers, map[uint32]Key) {
	var all []note.Verifier
	keys := map[uint32]Key{}
	for _, k := range t.Keys.Of(UseLog) {
		if v, err := note.NewVerifier(k.VerifierKey); err == nil && v.Name() == origin {
			all = append(all, v)
			keys[v.KeyHash()] = k
		}
	}
	return note.VerifierList(all...), keys
}

// lived is Lived for what the proof's event names.
func (c *checker) lived(k Key, seen time.Time) (State, string) {
	at := c.proof.Event.RecordedAt
	if c.trust.Logged {
		seen = at
	}
	return k.Lived(at, seen, 0)
}

// Checker checks one proof, step by step.
type checker struct {
	proof Proof
	trust Trust
	seen  Seen
	steps []Step
}

func (c *checker) say(name string, state State, format string, args ...any) {
	c.steps = append(c.steps, Step{name, state, fmt.Sprintf(format, args...)})
}

// event computes the event's digest and hash again, and holds the proof's claims
// against what the event says.
func (c *checker) event() {
	p, e := c.proof, c.proof.Event
	var says named
	previous, _ := sum(e.PreviousHash)
	digest := e.digest()
	hash := eventstore.Link(previous, digest[:], e.RecordedAt)
	switch {
	case uniquekeys.Check([]byte(e.Data)) != nil || json.Unmarshal([]byte(e.Data), &says) != nil || e.Type != readyType:
		c.say(StepEvent, Broken, "The event does not say that a report is ready.")
	case e.Stream != p.Report.ID || e.Organization != p.Report.Organization:
		c.say(StepEvent, Broken, "The event is about another report.")
	case says.PDFSHA256 != p.Report.PDFSHA256 || says.InputsSHA256 != p.Report.InputsSHA256:
		c.say(StepEvent, Broken, "The event names another PDF or other inputs.")
	case says.Kind != "" && says.Kind != p.Report.Kind || says.ScopeSHA256 != "" && says.ScopeSHA256 != p.Report.ScopeSHA256:
		c.say(StepEvent, Broken, "The event names another kind or scope.")
	case hex.EncodeToString(hash[:]) != e.Hash:
		c.say(StepEvent, Broken, "The event's hash does not match its content and the time of its record.")
	case Apart(e.RecordedAt, e.OccurredAt):
		c.say(StepEvent, Broken, "The event says that it was recorded on %s and happened on %s: one of the two is wrong.", stamp(e.RecordedAt), stamp(e.OccurredAt))
	case !c.trust.Now.IsZero() && e.RecordedAt.Sub(c.trust.Now) > Skew:
		c.say(StepEvent, Broken, "The event says that it was recorded on %s, which is in the future: it is now %s.", stamp(e.RecordedAt), stamp(c.trust.Now))
	default:
		c.say(StepEvent, Held, "Event %s:%d, recorded %s, names this PDF and its inputs.", e.Log, e.Position, stamp(e.RecordedAt))
	}
}

// inclusion holds the event against the tree.
func (c *checker) inclusion() {
	tree, err := c.proof.Tree()
	if err != nil {
		c.say(StepInclusion, Broken, "The %v.", err)
		return
	}
	proof := make(tlog.RecordProof, len(c.proof.Inclusion))
	for i, hash := range c.proof.Inclusion {
		proof[i] = tlog.Hash(hash)
	}
	e := c.proof.Event
	if e.Position < 1 || e.Position > tree.Size || tlog.CheckRecord(proof, tree.Size, tree.Root, e.Position-1, tlog.RecordHash(e.leaf())) != nil {
		c.say(StepInclusion, Broken, "The event is not in the log's tree of %d events.", tree.Size)
		return
	}
	c.say(StepInclusion, Held, "The event is number %d in the log's tree of %d events.", e.Position, tree.Size)
}

// checkpoint checks who signed the tree.
func (c *checker) checkpoint() {
	tree, err := c.proof.Tree()
	if err != nil {
		return // inclusion has said so
	}
	if tree.Origin != c.proof.Origin || !strings.HasSuffix(tree.Origin, "/"+c.proof.Event.Log) {
		c.say(StepCheckpoint, Broken, "The checkpoint belongs to %s, but the event belongs to another log.", tree.Origin)
		return
	}
	signers, keys := c.trust.signers(tree.Origin)
	opened, err := note.Open([]byte(c.proof.Checkpoint), signers)
	var unverified *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unverified):
		c.say(StepCheckpoint, Untold, "None of the given keys signed the log's tree (%s).", tree.Origin)
	case err != nil:
		c.say(StepCheckpoint, Broken, "The log's tree was changed after it was signed, or its signature was changed.")
	default: // after a rotation there are two, of which one is enough
		state, why := State(""), ""
		for _, by := range opened.Sigs {
			s, sentence := c.lived(keys[by.Hash], c.seen.Any)
			if s == Held {
				sentence = fmt.Sprintf("The log's tree of %d events is signed by key %08x of %s%s.", tree.Size, by.Hash, tree.Origin, ending(keys[by.Hash]))
			}
			if better(s, state) {
				state, why = s, sentence
			}
		}
		c.say(StepCheckpoint, state, "%s", why)
	}
}

// ending adds how a key ended whose signature holds.
func ending(k Key) string {
	if words := k.Lifetime(); words != "" {
		return " (" + words + ")"
	}
	return ""
}

// attestation checks who signed the report.
func (c *checker) attestation() {
	a := c.proof.Attestation
	head, err := c.proof.Event.head()
	if err != nil {
		return // a proof that was parsed has one
	}
	statement := Statement(c.proof.Report, head)
	named := false
	for _, k := range c.trust.Keys.Of(UseReport) {
		if a.signedBy(k, statement) {
			state, sentence := c.lived(k, c.seen.Report)
			if state == Held {
				sentence = fmt.Sprintf("Report, organization, scope, PDF, inputs and %s are signed by key %s%s.", head, k.ID, ending(k))
			}
			c.say(StepAttestation, state, "%s", sentence)
			return
		}
		named = named || k.ID == a.KeyID
	}
	if named {
		c.say(StepAttestation, Broken, "Key %s signed a different statement about the report.", a.KeyID)
		return
	}
	c.say(StepAttestation, Untold, "Key %s is named as the signer of the report, but is not among the given keys.", a.KeyID)
}

// file holds the PDF's base revision, or a file that goes with it, against the proof.
func (c *checker) file(base [32]byte) {
	want, _ := sum(c.proof.Report.PDFSHA256)
	if name := c.proof.Companion(base); name != "" {
		c.say(StepFile, Held, "The file is %s of the report, SHA-256 %x.", name, base)
		return
	}
	if !bytes.Equal(base[:], want) {
		c.say(StepFile, Broken, "The file is not the one that the proof names, or it was changed: its SHA-256 is %x, and the report's is %x.", base, want)
		return
	}
	c.say(StepFile, Held, "The file is the report as it was built, SHA-256 %x.", base)
}

// InOrder are the steps in the order of their names above.
func InOrder(steps []Step) []Step {
	order := []string{StepFile, StepEvent, StepInclusion, StepCheckpoint, StepAttestation, StepSignature, StepTimestamp, StepWitness, StepKept}
	sorted := slices.Clone(steps)
	slices.SortStableFunc(sorted, func(a, b Step) int { return slices.Index(order, a.Name) - slices.Index(order, b.Name) })
	return sorted
}

// VerdictOf is what all steps come to.
func VerdictOf(steps []Step) Verdict {
	v := Holds
	for _, s := range steps {
		switch s.State {
		case Broken:
			return Contradicted
		case Untold:
			v = CannotTell
		case Held, NotAsked:
		}
	}
	return v
}

// Verdict is the answer of a check.
type Verdict string

// The verdicts.
const (
	Holds        Verdict = "holds"
	Contradicted Verdict = "contradicted"
	CannotTell   Verdict = "cannot tell"
)

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// Check checks a proof against the base revision of the PDF that it is about, or a file that
// goes with it, by its SHA-256. It looks at no signature in the PDF, no time stamp and no witness.
func Check(base [32]byte, p Proof, trust Trust) (Verdict, []Step) {
	return CheckSeen(base, p, trust, Seen{})
}

// CheckSeen is Check for who knows when others had seen what is signed.
func CheckSeen(base [32]byte, p Proof, trust Trust, seen Seen) (Verdict, []Step) {
	c := &checker{proof: p, trust: trust, seen: seen}
	c.file(base)
	c.event()
	c.inclusion()
	c.checkpoint()
	c.attestation()
	return VerdictOf(c.steps), c.steps
}

// FirstOff is what the first step says that contradicts, or else that could not be told.
func FirstOff(steps []Step) string {
	for _, state := range []State{Broken, Untold} {
		for _, s := range steps {
			if s.State == state {
				return s.Detail
			}
		}
	}
	return ""
}
