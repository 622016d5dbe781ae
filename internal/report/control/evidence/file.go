package evidence

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/mod/sumdb/note"

	"muster/domain/printable"
	"muster/internal/proof/attest"
	"muster/internal/proof/pades"
	"muster/internal/proof/timestamp"
)

// Answer is what a file of evidence proves by itself.
type Answer struct {
	Verdict  attest.Verdict
	Sentence string
	Steps    []attest.Step
	Document Document // empty where it cannot be read
}

// Is says whether a file says that it is evidence: signed JSON, or a signed PDF that has such
// JSON attached.
func Is(file []byte) bool {
	if bytes.HasPrefix(file, []byte("%PDF-")) {
		revisions, _ := pades.Split(file)
		file = revisions.Proof
	}
	var members map[string]json.RawMessage
	return json.Unmarshal(file, &members) == nil && members["evidence"] != nil && members["signature"] != nil
}

// CheckFile checks a file that Is evidence. It asks no database and no network.
func CheckFile(file []byte, trust attest.Trust) Answer {
	var c fileCheck
	err := c.read(file)
	return c.judge(err, trust, time.Time{})
}

// fileCheck is a file of evidence: it is read, and then judged under a verifier's trust.
type fileCheck struct {
	revisions *pades.Revisions // nil: it is no PDF, or one that was changed behind its end
	signed    Signed
	document  Document
	trust     attest.Trust
	signature *pades.Signature // of the PDF; nil: none that holds
	seen      time.Time        // when it was there at the latest, by a trusted clock
	key       string
	steps     []attest.Step
}

// read takes a file apart, without trusting anything in it. Error: *MalformedError.
func (c *fileCheck) read(file []byte) (err error) {
	text := file
	if bytes.HasPrefix(file, []byte("%PDF-")) {
		revisions, err := pades.Split(file)
		if err != nil { // of a file that Is evidence: something follows the signed update
			c.say(attest.StepSignature, attest.Broken, "The file was changed after it was signed: %v.", err)
		} else {
			c.revisions = &revisions
		}
		text = revisions.Proof
	}
	c.signed, c.document, err = Parse(text)
	return err
}

// judge says what a file that was read proves to a verifier who knows that it existed at a
// time; zero: the verifier does not know. unread is the error of read.
func (c *fileCheck) judge(unread error, trust attest.Trust, seen time.Time) Answer {
	c.trust, c.seen = trust, seen
	if c.revisions != nil {
		var off attest.Step
		if c.signature, off = trust.VerifyPDF(*c.revisions); c.signature == nil {
			c.steps = append(c.steps, off)
		}
	}
	if unread != nil {
		c.say(attest.StepFile, attest.Untold, "%v.", unread)
		return c.answer()
	}
	c.timestamps()
	c.attestation()
	c.checkpoints()
	if c.signature != nil {
		says := attest.Dated{Says: "The evidence says that it was made on", At: c.document.AsOf}
		c.steps = append(c.steps, trust.JudgePDF(*c.signature, &says, c.seen))
	}
	return c.answer()
}

func (c *fileCheck) say(name string, state attest.State, format string, args ...any) {
	c.steps = append(c.steps, attest.Step{Name: name, State: state, Detail: fmt.Sprintf(format, args...)})
}

// timestamps judges the time stamps of the evidence's signature and of the PDF's.
func (c *fileCheck) timestamps() {
	type token struct {
		what   string
		token  []byte
		digest [sha256.Size]byte
	}
	tokens := []token{{"the evidence", c.signed.Timestamp, c.signed.Imprint()}}
	if c.signature != nil {
		tokens = append(tokens, token{"the PDF's signature", c.signature.Token, sha256.Sum256(c.signature.Value)})
	}
	there := false
	for _, t := range tokens {
		if t.token == nil || c.trust.TSA == nil {
			there = there || t.token != nil
			continue
		}
		there = true
		stamped, err := timestamp.Verify(t.token, t.digest[:], c.trust.TSA)
		switch {
		case err != nil:
			c.say(attest.StepTimestamp, attest.Broken, "The time stamp of %s is not valid: %v.", t.what, err)
			continue
		case attest.Apart(stamped.At, c.document.AsOf):
			c.say(attest.StepTimestamp, attest.Broken, "The evidence is dated %s, but its time stamp is dated %s: one of the two is wrong.", minute(c.document.AsOf), minute(stamped.At))
		default:
			c.say(attest.StepTimestamp, attest.Held, "There is a trusted time stamp of %s, dated %s.", t.what, minute(stamped.At))
		}
		if c.seen.IsZero() || stamped.At.Before(c.seen) {
			c.seen = stamped.At
		}
	}
	switch {
	case c.trust.TSA == nil && there:
		c.say(attest.StepTimestamp, attest.NotAsked, "There is a time stamp, but you named no time stamp service that you trust.")
	case c.trust.TSA == nil:
		c.say(attest.StepTimestamp, attest.NotAsked, "There is no time stamp.")
	case !there:
		c.say(attest.StepTimestamp, attest.Untold, "There is no time stamp to check.")
	}
}

// attestation checks who signed the evidence, by the key's lifetime too.
func (c *fileCheck) attestation() {
	verdict, key := Check(c.signed, c.trust.Keys)
	c.key = key
	switch verdict {
	case attest.Contradicted:
		c.say(attest.StepAttestation, attest.Broken, "Key %s signed different evidence.", key)
		return
	case attest.CannotTell:
		c.say(attest.StepAttestation, attest.Untold, "Key %s is named as the signer, but is not among the given keys.", key)
		return
	case attest.Holds:
	}
	if now := c.trust.Now; !now.IsZero() && c.document.AsOf.Sub(now) > attest.Skew {
		c.say(attest.StepAttestation, attest.Broken, "The evidence is dated %s, which is in the future: it is now %s.", minute(c.document.AsOf), minute(now))
		return
	}
	state, why := Lived(c.document, c.seen, c.trust.Keys, key)
	if state == attest.Held {
		why = "The evidence is signed by key " + key + "."
	}
	c.say(attest.StepAttestation, state, "%s", why)
}

// checkpoints checks that the trees which the evidence names are signed, and cover its heads. No
// witness is asked for: evidence is made within a second of its checkpoints, which they sign later.
func (c *fileCheck) checkpoints() {
	for _, p := range c.document.Checkpoints {
		c.checkpoint(p)
	}
	for _, w := range c.document.Witnesses {
		log, _, _ := strings.Cut(w, ":")
		switch {
		case c.document.head(log) == 0: // an empty log has none
		case len(c.document.Checkpoints) == 0:
			c.say(attest.StepCheckpoint, attest.NotAsked, "There is no signed tree of log %s: the evidence comes from an earlier version.", log)
		case !slices.ContainsFunc(c.document.Checkpoints, func(p Checkpoint) bool { return p.Log == log }):
			c.say(attest.StepCheckpoint, attest.Untold, "The evidence was made from log %s, but has no signed tree of it.", log)
		}
	}
}

// checkpoint judges who signed a tree, by the key's lifetime, too.
func (c *fileCheck) checkpoint(p Checkpoint) {
	tree, err := attest.ParseCheckpoint(p.Note)
	if err != nil || !strings.HasSuffix(tree.Origin, "/"+p.Log) || tree.Size < c.document.head(p.Log) {
		c.say(attest.StepCheckpoint, attest.Broken, "The checkpoint of log %s does not cover the evidence.", p.Log)
		return
	}
	var all []note.Verifier
	keys := map[uint32]attest.Key{}
	for _, k := range c.trust.Keys.Of(attest.UseLog) {
		if v, err := note.NewVerifier(k.VerifierKey); err == nil && v.Name() == tree.Origin {
			all, keys[v.KeyHash()] = append(all, v), k
		}
	}
	opened, err := note.Open([]byte(p.Note), note.VerifierList(all...))
	var unverified *note.UnverifiedNoteError
	switch {
	case errors.As(err, &unverified) && len(c.trust.Keys.Of(attest.UseLog)) == 0:
		c.say(attest.StepCheckpoint, attest.NotAsked, "The given keys have no key of a log, so the signature of log %s's tree is not checked.", p.Log)
		return
	case errors.As(err, &unverified):
		c.say(attest.StepCheckpoint, attest.Untold, "None of the given keys signed the tree of log %s.", p.Log)
		return
	case err != nil:
		c.say(attest.StepCheckpoint, attest.Broken, "The tree of log %s was changed after it was signed.", p.Log)
		return
	}
	state, why := attest.State(""), ""
	for _, by := range opened.Sigs { // after a rotation there are two, of which one is enough
		s, sentence := keys[by.Hash].Lived(c.document.AsOf, c.seen, attest.Skew)
		if s == attest.Held {
			sentence = fmt.Sprintf("Log %s is signed up to its event %d.", p.Log, tree.Size)
		}
		if state == "" || s == attest.Held || s == attest.Untold && state == attest.Broken {
			state, why = s, sentence
		}
	}
	c.say(attest.StepCheckpoint, state, "%s", why)
}

// head is the last position of a log that the evidence was made from.
func (d Document) head(log string) int64 {
	for _, w := range d.Witnesses {
		if name, rest, _ := strings.Cut(w, ":"); name == log {
			position, _, _ := strings.Cut(rest, ":")
			n, _ := strconv.ParseInt(position, 10, 64) // of what was signed, a number
			return n
		}
	}
	return 0
}

func (c *fileCheck) answer() Answer {
	a := Answer{Verdict: attest.VerdictOf(c.steps), Steps: attest.InOrder(c.steps), Document: c.document}
	d := c.document
	switch a.Verdict {
	case attest.Holds:
		a.Sentence = fmt.Sprintf("This is evidence of %s of %s, %s to %s, as of %s, %s, signed by key %s.", printable.Clean(d.Check.ID), printable.Clean(d.Organization.Name),
			minute(d.From), minute(d.To), minute(d.AsOf), plural(len(d.Items), "server", "servers"), c.key)
	case attest.Contradicted:
		a.Sentence = "This is not what it claims to be. " + attest.FirstOff(c.steps)
	case attest.CannotTell:
		a.Sentence = "The given files are not enough to tell. " + attest.FirstOff(c.steps)
	}
	return a
}
