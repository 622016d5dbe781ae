package main

import (
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

	"muster/domain/legible"
	"muster/eventstore/witness"
	"muster/internal/accounts"
	"muster/internal/config"
	"muster/internal/proof"
	"muster/projections/audit"
)

// trailLimit is how many entries of a report's trail are read.
const trailLimit = 1000

func verifyCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "verify FILE...",
		Short: "Is this PDF one of ours; who asked, when, what was known, who got it",
		Long: `Looks for the SHA-256 of each file (-: standard input) in the logs of every
organization and holds the report's events against the hash chain. Exit status:

  0  ours and intact
  1  not one of ours, or changed, or its events do not fit
  3  cannot tell: the file or the database cannot be read

Of several files, 1 comes before 3 and 3 before 0.`,
		Example: `  muster verify security.pdf
  curl … | muster verify -`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			var v verdicts
			digests := map[string]string{}
			for _, name := range args {
				digest, err := fileDigest(name, cmd.InOrStdin())
				v.cannotTell(err)
				digests[name] = digest
			}
			err := withInstallation(cmd.Context(), cfg, func(in *installation) error {
				for _, name := range args {
					if digests[name] == "" {
						continue
					}
					err := in.verifyPDF(cmd.Context(), cmd.OutOrStdout(), name, digests[name])
					var refuted *refutedError
					switch {
					case unread(err):
						return err
					case errors.As(err, &refuted):
						v.refuted(err)
					default:
						v.cannotTell(err)
					}
				}
				return nil
			})
			if unread(err) {
				return err
			}
			v.cannotTell(err)
			return v.exit()
		},
	}
}

// exitCannotTell is the status of a question that has no answer.
const exitCannotTell = 3

// refutedError says that a file is not the report that it seems to be.
type refutedError struct{ reason string }

func (e *refutedError) Error() string { return e.reason }

// verdicts is what came of several files.
type verdicts struct {
	status int
	said   []string
}

func (v *verdicts) refuted(err error) {
	v.status, v.said = exitFailed, append(v.said, err.Error())
}

func (v *verdicts) cannotTell(err error) {
	if err == nil {
		return
	}
	if v.status == 0 {
		v.status = exitCannotTell
	}
	v.said = append(v.said, "cannot tell: "+err.Error())
}

func (v *verdicts) exit() error {
	if v.status == 0 {
		return nil
	}
	return &exitError{status: v.status, err: errors.New(strings.Join(v.said, "; "))}
}

func fileDigest(path string, stdin io.Reader) (string, error) {
	content := stdin
	if path != "-" {
		file, err := os.Open(path)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		content = file
	}
	digest := sha256.New()
	if _, err := io.Copy(digest, content); err != nil {
		return "", fmt.Errorf("read %s: %w", path, err)
	}
	return hex.EncodeToString(digest.Sum(nil)), nil
}

func (in *installation) verifyPDF(ctx context.Context, w io.Writer, name, digest string) error {
	organizations, err := in.accounts.Organizations(ctx)
	if err != nil {
		return err
	}
	prover := &proof.Prover{Events: in.events, Reports: in.history}
	for _, o := range organizations {
		found, ok, err := prover.Of(ctx, o.ID, digest, time.Now())
		if err != nil {
			return err
		}
		if !ok {
			continue
		}
		if err := in.printProof(ctx, w, o, found); err != nil {
			return err
		}
		if found.Fault != "" {
			return &refutedError{name + " is one of ours, but its proof does not hold: " + found.Fault}
		}
		return nil
	}
	return &refutedError{name + " is not one of ours, or was changed: no report has the SHA-256 " + digest}
}

// printProof prints what the log knows of a report.
func (in *installation) printProof(ctx context.Context, out io.Writer, o accounts.Organization, p proof.Proof) error {
	trail, err := in.audit.Trail(ctx, o.ID, p.Row.ID, 0, trailLimit)
	if err != nil {
		return err
	}
	names, err := in.accounts.Names(ctx, o.ID, actors(trail, p.Row.RecipientIDs))
	if err != nil {
		return err
	}
	f := p.Row.File
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	if p.Fault == "" {
		fmt.Fprintf(w, "ours and intact\t%s\n", legible.Clean(f.Name))
	}
	fmt.Fprintf(w, "organization\t%s\n", legible.Clean(o.Name))
	fmt.Fprintf(w, "report\t%s, %s, %s\n", p.Row.ID, p.Row.Kind, legible.Clean(p.Row.ScopeLabel))
	fmt.Fprintf(w, "requested\t%s by %s\n", stamp(p.Row.CreatedAt), nameOf(names, p.Row.RequesterID.String()))
	fmt.Fprintf(w, "status\t%s\n", p.Row.Status)
	fmt.Fprintf(w, "SHA-256\t%s, %d bytes, %d pages\n", f.SHA256, f.SizeBytes, f.Pages)
	fmt.Fprintf(w, "inputs\t%s\n", f.InputsSHA256)
	fmt.Fprintf(w, "renderer\t%s %s, %s\n", f.Renderer.Version, f.Renderer.Commit, f.Renderer.GoVersion)
	fmt.Fprintf(w, "witness\t%s\n", witness.Format(f.Witness.Log, f.Witness.Position, f.Witness.Hash))
	for _, e := range trail {
		fmt.Fprintf(w, "  %s\t%s %s\n", stamp(e.At), e.Type, concerned(names, e))
	}
	return w.Flush()
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
		return legible.Clean(name)
	case known: // erased
		return "a former member"
	}
	return "member " + actor
}
