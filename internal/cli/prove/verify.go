package prove

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/domain/printable"
	"muster/domain/report"
	"muster/eventstore"
	"muster/eventstore/witness"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/files/blobs"
	"muster/internal/proof"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/offline"
	"muster/internal/report/control/evidence"
	"muster/projections/audit"
)

// trailLimit is how many entries of a report's trail are read.
const trailLimit = 1000

// VerifyCommand returns the command verify.
func VerifyCommand(cfg *config.Config) *cobra.Command {
	var o offlineOptions
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify FILE...",
		Short: "Verify a report or evidence, and print who requested it, when, and who received it",
		Long: `A file is a report's PDF, one of its tables (findings.csv, cves.csv, accounts.csv, inventory.csv), its
inputs.json, or evidence of a control (JSON or PDF); - is standard input. The command
searches the logs of every organization for the file's SHA-256. Then it compares

  * the report's events with the hash chain
  * the report's proof with the file and the events
  * the log with everything that was signed about it: kept checkpoints and proofs, and
    the file next to the secret key

Exit status:

  0  the file is from this installation and intact
  1  the file is not from this installation, was changed, or its events do not match
  3  cannot tell: the file or the database cannot be read

For several files, 1 takes precedence over 3, and 3 over 0.

--offline needs no database, data directory or network. It needs the installation's
public keys (--keys), which you kept from ` + "/.well-known/muster-keys.json" + `, and a proof: the one in
the PDF, or --proof. The same keys check exports, signed evidence (JSON or PDF) and
mails (.eml). --trust names one file with everything that a check relies on. Without a
proof or the right keys the status is 3.`,
		Example: `  muster verify security.pdf
  curl … | muster verify -
  muster verify --offline --keys muster-keys.json security.pdf
  muster verify --offline --keys muster-keys.json --proof proof.json findings.csv inputs.json
  muster verify --offline --trust trust.json security.pdf findings.csv mail.eml reports.jsonl evidence.json
  muster verify --offline --keys muster-keys.json --tsa-ca ca.pem --witnesses witnesses.txt security.pdf`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			v := verdicts{json: asJSON, out: cmd.OutOrStdout()}
			if o.offline {
				if err := o.fits(); err != nil {
					return err
				}
				o.check(&v, cmd.InOrStdin(), cmd.ErrOrStderr(), args)
				return v.end()
			}
			if err := o.unasked(); err != nil {
				return err
			}
			files := make([]candidate, len(args))
			for i, name := range args {
				files[i] = read1(name, cmd.InOrStdin())
			}
			err := installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				if _, err := in.Checkpoints.Hold(cmd.Context(), eventstore.Reports); err != nil {
					return err
				}
				for i, f := range files {
					if f.err != nil {
						v.cannotTell(f.name, f.err)
						continue
					}
					files[i].asked = true
					if err := verifyPDF(cmd.Context(), in, &v, f); err != nil {
						return err
					}
				}
				return nil
			})
			if command.Unread(err) {
				return err
			}
			if err != nil { // the database is away: of no file can be told more
				v.said = append(v.said, "cannot tell: "+err.Error())
				for _, f := range files {
					if !f.asked {
						v.add(Verified{File: f.name, Verdict: attest.CannotTell, Sentence: err.Error()})
					}
				}
			}
			return v.end()
		},
	}
	o.flags(cmd)
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	return cmd
}

// candidate is a file that is to be verified.
type candidate struct {
	name    string
	content []byte
	err     error // why it could not be read
	asked   bool
}

func read1(name string, stdin io.Reader) candidate {
	c := candidate{name: name}
	if name == "-" {
		c.content, c.err = io.ReadAll(stdin)
	} else {
		c.content, c.err = os.ReadFile(name)
	}
	if blobs.PackedInputs(c.content) { // as the store has them; their digest is of what is inside
		if inputs, err := blobs.UnpackInputs(name, c.content); err == nil {
			c.content = inputs
		}
	}
	return c
}

func (c candidate) digest() string {
	sum := sha256.Sum256(c.content)
	return hex.EncodeToString(sum[:])
}

// Verified is what came of one file, as --json has it.
type Verified struct {
	File        string         `json:"file"`
	Verdict     attest.Verdict `json:"verdict"`
	Sentence    string         `json:"sentence"`
	SHA256      string         `json:"sha256,omitempty"`
	Report      any            `json:"report,omitempty"`
	RecordedAt  *time.Time     `json:"recordedAt,omitempty"`
	AtTheLatest *time.Time     `json:"atTheLatest,omitempty"`
	Steps       []attest.Step  `json:"steps,omitempty"`
}

// verdicts is what came of several files.
type verdicts struct {
	json        bool
	out         io.Writer
	files       []Verified
	said        []string
	fingerprint string // of the keys that --offline was given
}

// keys says which keys the files are checked with.
func (v *verdicts) keys(given attest.Keys) {
	v.fingerprint = given.Fingerprint()
	if !v.json {
		fmt.Fprintf(v.out, "keys with the fingerprint %s\n", v.fingerprint)
	}
}

func (v *verdicts) add(f Verified) { v.files = append(v.files, f) }

func (v *verdicts) refuted(f Verified, reason string) {
	f.Verdict, f.Sentence = attest.Contradicted, reason
	v.add(f)
	v.said = append(v.said, reason)
}

func (v *verdicts) cannotTell(name string, err error) {
	v.add(Verified{File: name, Verdict: attest.CannotTell, Sentence: err.Error()})
	v.said = append(v.said, "cannot tell: "+err.Error())
}

// status is 1 before 3 and 3 before 0.
func (v *verdicts) status() int {
	status := 0
	for _, f := range v.files {
		switch f.Verdict {
		case attest.Contradicted:
			return command.ExitFailed
		case attest.CannotTell:
			status = command.ExitCannotTell
		case attest.Holds:
		}
	}
	return status
}

// end prints what is to be printed as JSON, and is the command's outcome.
func (v *verdicts) end() error {
	if v.json {
		out := json.NewEncoder(v.out)
		out.SetEscapeHTML(false)
		out.SetIndent("", "  ")
		said := struct {
			KeysFingerprint string     `json:"keysFingerprint,omitempty"`
			Files           []Verified `json:"files"`
		}{v.fingerprint, v.files}
		if err := out.Encode(said); err != nil {
			return err
		}
	}
	if status := v.status(); status != 0 {
		return &command.ExitError{Status: status, Err: errors.New(strings.Join(v.said, "; "))}
	}
	return nil
}

// verifyPDF adds what the log knows of a file.
func verifyPDF(ctx context.Context, in *installation.Installation, v *verdicts, f candidate) error {
	o, found, ok, err := find(ctx, in, f.digest())
	if err != nil {
		return err
	}
	seen := Verified{File: f.name, SHA256: f.digest()}
	if !ok && evidence.Is(f.content) {
		return findEvidence(ctx, in, v, f, seen)
	}
	if !ok {
		reason := f.name + " is not one of ours, or was changed: no report has the SHA-256 " + seen.SHA256
		if base, ok, err := unsigned(ctx, in, f); err != nil {
			return err
		} else if ok {
			reason = fmt.Sprintf("%s is not one of ours, or was changed: it begins as report %s was built, and what follows is not what was appended to that; its SHA-256 is %s", f.name, base, seen.SHA256)
		}
		v.refuted(seen, reason)
		return nil
	}
	key, err := ofFile(ctx, in, &found, f)
	if err != nil {
		return err
	}
	row := found.Row
	finished := row.FinishedAt
	seen.Report, seen.RecordedAt = row.ID, finished
	if !v.json {
		if err := printProof(ctx, in, v.out, o, seen.SHA256, found, key); err != nil {
			return err
		}
	}
	if found.Fault != "" {
		v.refuted(seen, f.name+" is one of ours, but its proof does not hold: "+found.Fault)
		return nil
	}
	seen.Verdict, seen.Sentence = attest.Holds, "ours and intact"
	v.add(seen)
	return nil
}

// findEvidence adds what the log knows of a file of evidence.
func findEvidence(ctx context.Context, in *installation.Installation, v *verdicts, f candidate, seen Verified) error {
	found, ok, err := in.EvidenceMaker().Find(ctx, uuid.Nil, f.content)
	if err != nil {
		return err
	}
	if !ok {
		v.refuted(seen, f.name+" is not evidence of ours, or was changed: no log has its digest, or a signature does not hold")
		return nil
	}
	d, e := found.Document, found.Event
	seen.RecordedAt = &e.RecordedAt
	if _, err := in.Checkpoints.Hold(ctx, e.Log); err != nil {
		return err
	}
	fault, err := in.Proofs.Misfit(ctx, e.OrganizationID, d.ID, e.Log)
	if err != nil {
		return err
	}
	if fault != "" {
		v.refuted(seen, f.name+" is evidence of ours, but the log does not hold: "+fault)
		return nil
	}
	if !v.json {
		w := tabwriter.NewWriter(v.out, 0, 0, 2, ' ', 0)
		fmt.Fprintf(w, "ours and intact\tevidence %s\n", d.ID)
		fmt.Fprintf(w, "organization\t%s\n", printable.Clean(d.Organization.Name))
		fmt.Fprintf(w, "check\t%s, %s\n", d.Check.ID, printable.Clean(d.Check.Title))
		fmt.Fprintf(w, "period\t%s to %s\n", stamp(d.From), stamp(d.To))
		fmt.Fprintf(w, "recorded\t%s\n", stamp(e.RecordedAt))
		fmt.Fprintf(w, "witness\t%s\n", witness.Format(string(e.Log), e.Position, hex.EncodeToString(e.Hash)))
		if err := w.Flush(); err != nil {
			return err
		}
	}
	seen.Verdict, seen.Sentence = attest.Holds, "ours and intact"
	v.add(seen)
	return nil
}

// ofFile holds what the file itself says, its signature and its times, against the kept
// proof, and returns what became of the key that signed it; empty: it signs, or there is
// no proof.
func ofFile(ctx context.Context, in *installation.Installation, found *proof.Proof, f candidate) (string, error) {
	if found.Kept == nil {
		return "", nil
	}
	keys, err := in.Signing.Keys(ctx)
	if err != nil {
		return "", err
	}
	a := offline.Check(f.content, found.Kept, attest.Trust{Keys: keys, Now: in.Clock.Now(), Logged: true})
	if a.Verdict == attest.Contradicted && found.Fault == "" {
		found.Fault = attest.FirstOff(a.Steps)
	}
	for _, k := range keys.Of(attest.UseReport) {
		if k.ID == found.Kept.Attestation.KeyID && k.Lifetime() != "" {
			return k.ID + " (" + k.Lifetime() + ")", nil
		}
	}
	return "", nil
}

// find looks for a digest in every organization, also in those that were deleted: their
// events stay, and somebody may have a report.
func find(ctx context.Context, in *installation.Installation, digest string) (o accounts.Organization, found proof.Proof, ok bool, err error) {
	organizations, err := in.Accounts.Organizations(ctx)
	if err != nil {
		return o, found, false, err
	}
	deleted, err := in.Accounts.Deletions(ctx)
	if err != nil {
		return o, found, false, err
	}
	for _, d := range deleted {
		organizations = append(organizations, accounts.Organization{ID: d.ID, Name: d.ID.String() + ", which was deleted " + stamp(d.DeletedAt)})
	}
	for _, o := range organizations {
		if found, ok, err := in.Proofs.Find(ctx, o.ID, digest, in.Clock.Now()); err != nil || ok {
			return o, found, ok, err
		}
	}
	return o, found, false, nil
}

// unsigned finds the report of a file that is one of ours up to where it was signed.
func unsigned(ctx context.Context, in *installation.Installation, f candidate) (uuid.UUID, bool, error) {
	const endOfBase = "\n%%EOF\n"
	end := bytes.Index(f.content, []byte(endOfBase))
	if end < 0 {
		return uuid.Nil, false, nil
	}
	_, found, ok, err := find(ctx, in, candidate{content: f.content[:end+len(endOfBase)]}.digest())
	return found.Row.ID, ok, err
}

// printProof prints what the log knows of a report.
func printProof(ctx context.Context, in *installation.Installation, out io.Writer, o accounts.Organization, digest string, p proof.Proof, key string) error {
	trail, err := in.Audit.Trail(ctx, o.ID, p.Row.ID, 0, trailLimit)
	if err != nil {
		return err
	}
	names, err := in.Accounts.Names(ctx, o.ID, actors(trail, p.Row.RecipientIDs))
	if err != nil {
		return err
	}
	f := p.Row.File
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if p.Fault == "" {
		fmt.Fprintf(w, "ours and intact\t%s\n", printable.Clean(report.SavedAs(f.Name, p.File)))
	}
	if p.File != report.PDFFile && p.File != "" {
		fmt.Fprintf(w, "file\t%s, SHA-256 %s\n", p.File, digest)
	}
	fmt.Fprintf(w, "organization\t%s\n", printable.Clean(o.Name))
	fmt.Fprintf(w, "report\t%s, %s, %s\n", p.Row.ID, p.Row.Kind, printable.Clean(p.Row.ScopeLabel))
	fmt.Fprintf(w, "requested\t%s by %s\n", stamp(p.Row.CreatedAt), nameOf(names, p.Row.RequesterID.String()))
	fmt.Fprintf(w, "status\t%s\n", p.Row.Status)
	fmt.Fprintf(w, "SHA-256\t%s, %d bytes, %d pages\n", f.SHA256, f.SizeBytes, f.Pages)
	fmt.Fprintf(w, "inputs\t%s\n", f.InputsSHA256)
	fmt.Fprintf(w, "renderer\t%s %s, %s\n", f.Renderer.Version, f.Renderer.Commit, f.Renderer.GoVersion)
	fmt.Fprintf(w, "witness\t%s\n", witness.Format(f.Witness.Log, f.Witness.Position, f.Witness.Hash))
	fmt.Fprintf(w, "proof\t%s\n", keptAs(p))
	if key != "" {
		fmt.Fprintf(w, "key\t%s\n", printable.Clean(key))
	}
	for _, e := range trail {
		fmt.Fprintf(w, "  %s\t%s %s\n", stamp(e.At), e.Type, concerned(names, e))
	}
	return w.Flush()
}

// keptAs says what there is to prove the report without this database.
func keptAs(p proof.Proof) string {
	switch {
	case p.Kept == nil && p.Row.Status == report.StatusReady:
		return "none (yet): it was built before there were proofs, or seconds ago"
	case p.Kept == nil:
		return "none"
	case p.Signed:
		return "in this file, which is signed"
	case p.File != report.PDFFile:
		return "muster verify --offline --proof proof.json checks this file"
	}
	return "muster verify --offline checks the signed file; this is the PDF as it was built"
}

func stamp(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05Z") }

// actors collects the members that a trail and a list of recipients name.
func actors(trail []audit.Entry, recipients []uuid.UUID) []uuid.UUID {
	ids := append([]uuid.UUID(nil), recipients...)
	for _, e := range trail {
		if id, err := uuid.Parse(e.ActorID); err == nil {
			ids = append(ids, id)
		}
	}
	return ids
}

// concerned is who an entry is about: of a mail who received it, which no actor
// says, of everything else who did it.
func concerned(names map[uuid.UUID]string, e audit.Entry) string {
	var mail struct {
		MemberID string `json:"memberId"`
	}
	if (e.Type == "emailSent" || e.Type == "emailFailed") && json.Unmarshal(e.Data, &mail) == nil {
		return "to " + nameOf(names, mail.MemberID)
	}
	return nameOf(names, e.ActorID)
}

func nameOf(names map[uuid.UUID]string, actor string) string {
	id, err := uuid.Parse(actor)
	if err != nil {
		return actor // the system
	}
	name, known := names[id]
	switch {
	case name != "":
		return printable.Clean(name)
	case known: // erased
		return "a former member"
	}
	return "member " + actor
}
