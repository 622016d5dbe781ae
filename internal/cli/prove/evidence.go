package prove

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/domain/printable"
	"muster/internal/assessment/catalogue"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/proof/attest"
	"muster/internal/report/control/evidence"
)

// asked is what evidence is asked for.
type asked struct {
	check, from, to, organization string
	instances                     []string
	json, csv, pdf                bool
	signed                        string // a file for the signed JSON beside another form
	verify, keys                  string
}

// EvidenceCommand returns the command evidence.
func EvidenceCommand(cfg *config.Config) *cobra.Command {
	var a asked
	cmd := &cobra.Command{
		Use:   "evidence --check ID --from TIME --to TIME | --verify FILE --keys FILE",
		Short: "Print the states of a check on each server over a period, with a proof",
		Long: `Prints the times at which a check passed, failed, was accepted by an exception or was not
assessed. The list has each server of the check's engine that was active at any time in
the period (at most 400 days). The command uses recorded assessments: a result is valid
until the next assessment, and for 24 hours at most.

The check BACKUP-RPO is the control of backups, for servers of every engine: on which days
no database's newest backup was older than the recovery point objective.

--json prints the evidence, signed by the installation's report key, with the current
heads of the logs and the digest of each assessment. --csv and --pdf are for people;
--proof FILE writes the signed JSON that they were made from.

--verify checks signed JSON, or a signed PDF, with the installation's public keys and
without its database. Exit status of --verify:

  0  signed by a key that was in force
  1  changed, or its times cannot be true
  3  cannot tell: the named key is not among the given ones or has ended, or a file
     cannot be read`,
		Example: `  muster evidence --check PG-S17 --from 2026-07-01T00:00:00Z --to 2026-10-01T00:00:00Z
  muster evidence --check PG-S17 --from 2026-07-01T00:00:00Z --to 2026-10-01T00:00:00Z --pdf --proof q3.json > q3.pdf
  muster evidence --verify q3.json --keys muster-keys.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if a.verify != "" || a.keys != "" {
				return verifyEvidence(cmd, a)
			}
			question, err := a.read(time.Now())
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error { return makeEvidence(in, cmd, a, question) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&a.check, "check", "", "the check's id (PG-S17)")
	f.StringVar(&a.from, "from", "", "the start of the period, an RFC 3339 time")
	f.StringVar(&a.to, "to", "", "the end of the period (exclusive), an RFC 3339 time; a time in the future means now")
	f.StringSliceVar(&a.instances, "instance", nil, "only these servers, by id")
	f.StringVar(&a.organization, "in", "", "the organization's name or id; required if there are several")
	f.BoolVar(&a.json, "json", false, "print the signed evidence as JSON")
	f.BoolVar(&a.csv, "csv", false, "print one row for each period as CSV")
	f.BoolVar(&a.pdf, "pdf", false, "print the evidence as a PDF")
	f.StringVar(&a.signed, "proof", "", "also write the signed JSON to this new file")
	f.StringVar(&a.verify, "verify", "", "check this file (signed JSON or a PDF), and make no evidence")
	f.StringVar(&a.keys, "keys", "", "the installation's keys, from /.well-known/muster-keys.json; with --verify")
	return cmd
}

// read reads the flags; all that is wrong is in one usage error.
func (a asked) read(now time.Time) (r evidence.Request, err error) {
	var wrong []string
	needed := func(flag, text string) (t time.Time) {
		if text == "" {
			wrong = append(wrong, "--"+flag+" is needed")
			return t
		}
		t, err := command.OptionalTime(text)
		if err != nil {
			wrong = append(wrong, "--"+flag+": "+err.Error())
		}
		return t.UTC()
	}
	checks, err := catalogue.Load()
	if err != nil {
		return r, err
	}
	if a.check == "" {
		wrong = append(wrong, "--check is needed")
	}
	r = evidence.Request{Check: a.check, From: needed("from", a.from), To: needed("to", a.to)}
	for _, text := range a.instances {
		id, err := uuid.Parse(text)
		if err != nil {
			wrong = append(wrong, "--instance: "+err.Error())
		}
		r.Instances = append(r.Instances, id)
	}
	if forms := command.Count(a.json) + command.Count(a.csv) + command.Count(a.pdf); forms > 1 {
		wrong = append(wrong, "--json, --csv and --pdf are three forms; name one")
	}
	for _, fault := range r.Faults(checks, now) {
		if flag, _, _ := strings.Cut(fault.Field, "/"); a.gave(flag) {
			wrong = append(wrong, a.said(fault))
		}
	}
	return r, command.Usage(wrong)
}

// gave says whether what a fault is about was given at all. The rules of a window take two
// times.
func (a asked) gave(field string) bool {
	switch field {
	case "check":
		return a.check != ""
	case "from", "to":
		from, wrong := command.OptionalTime(a.from)
		to, alsoWrong := command.OptionalTime(a.to)
		return wrong == nil && alsoWrong == nil && !from.IsZero() && !to.IsZero()
	}
	return true
}

// said is a fault in the words of the command line.
func (a asked) said(f evidence.Fault) string {
	field, index, _ := strings.Cut(f.Field, "/")
	if i, err := strconv.Atoi(index); err == nil && i < len(a.instances) {
		return fmt.Sprintf("--instance %s %s", a.instances[i], f.Detail)
	}
	if field == "check" {
		return fmt.Sprintf("--check: %q %s", a.check, f.Detail)
	}
	return "--" + strings.TrimSuffix(field, "Ids") + " " + strings.NewReplacer("before to", "before --to", "after from", "after --from").Replace(f.Detail)
}

// makeEvidence answers a request in the form that is asked for.
func makeEvidence(in *installation.Installation, cmd *cobra.Command, a asked, r evidence.Request) error {
	ctx := cmd.Context()
	target, err := in.OrganizationNamed(ctx, a.organization)
	if err != nil {
		return err
	}
	r.Organization = target
	maker := in.EvidenceMaker()
	made, err := maker.Make(ctx, r, func(ctx context.Context, id uuid.UUID, made organization.EvidenceMade) error {
		_, err := in.Commands.RecordEvidence(ctx, usecase.Actor{OrganizationID: target.ID, Component: "cli"}, id, made)
		return err
	})
	if refused := (*evidence.RefusedError)(nil); errors.As(err, &refused) {
		var wrong []string
		for _, fault := range refused.Faults {
			wrong = append(wrong, a.said(fault))
		}
		return command.Usage(wrong)
	}
	if err != nil {
		return err
	}
	if a.signed != "" {
		if err := writeNew(a.signed, made.Text); err != nil {
			return err
		}
	}
	out := cmd.OutOrStdout()
	switch {
	case a.json:
		_, err = out.Write(made.Text)
	case a.csv:
		err = evidence.WriteCSV(out, made.Document)
	case a.pdf:
		var file []byte
		if file, err = maker.PDF(ctx, made, target.PaperSize); err == nil {
			_, err = out.Write(file)
		}
	default:
		err = printEvidence(out, made.Document, made.Signed)
	}
	return errors.Join(err, alteredIn(made.Document))
}

// alteredIn says which assessments are not what the log recorded: the evidence shows them,
// and the command fails.
func alteredIn(d evidence.Document) error {
	var sentences []string
	for _, item := range d.Items {
		for _, a := range item.Assessments {
			if a.Altered != "" {
				sentences = append(sentences, fmt.Sprintf("assessment %s of %s at %s is altered: %s", a.ID, printable.Clean(item.Instance.Name), stamp(a.At), a.Altered))
			}
		}
	}
	if len(sentences) == 0 {
		return nil
	}
	more := ""
	if n := len(sentences); n > 10 {
		sentences, more = sentences[:10], fmt.Sprintf("\nand %d more, which the evidence lists", n-10)
	}
	return errors.New(strings.Join(sentences, "\n") + more)
}

// writeNew writes a file that is not there yet.
func writeNew(path string, content []byte) error {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

func printEvidence(out io.Writer, d evidence.Document, s evidence.Signed) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "%s\t%s\n", d.Check.ID, printable.Clean(d.Check.Title))
	fmt.Fprintf(w, "organization\t%s\nperiod\t%s to %s\nas of\t%s\n\n", printable.Clean(d.Organization.Name), stamp(d.From), stamp(d.To), stamp(d.AsOf))
	if len(d.Items) == 0 {
		fmt.Fprintln(w, "No server of this check's engine was active in the period.")
	} else {
		fmt.Fprintln(w, "SERVER\tFROM\tTO\tSTATE\tASSESSMENTS\tWHY")
	}
	for _, item := range d.Items {
		for _, p := range item.Periods {
			fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%d\t%s\n", printable.Clean(item.Instance.Name), stamp(p.From), stamp(p.To), p.State, p.Assessments, printable.Clean(d.Words(p)))
		}
	}
	if len(d.Items) > 0 {
		fmt.Fprintln(w, "\nSERVER\tPASSED\tLONGEST GAP")
	}
	for _, item := range d.Items {
		fmt.Fprintf(w, "%s\t%s\t%s\n", printable.Clean(item.Instance.Name), evidence.Share(item.PassedShare), evidence.Lasting(item.LongestGapSeconds))
		if b := item.BackupDays; b != nil {
			fmt.Fprintf(w, "\t%s\n", b.Words())
		}
	}
	fmt.Fprintln(w)
	for _, head := range d.Witnesses {
		fmt.Fprintf(w, "witness\t%s\n", head)
	}
	fmt.Fprintf(w, "evidence\tSHA-256 %s\nsigned\tkey %s, %s\n", s.Digest(), s.KeyID, base64.StdEncoding.EncodeToString(s.Signature))
	return w.Flush()
}

// verifyEvidence checks a file without an installation.
func verifyEvidence(cmd *cobra.Command, a asked) error {
	if a.verify == "" || a.keys == "" || cmp.Or(a.check, a.from, a.to, a.organization, a.signed) != "" || a.json || a.csv || a.pdf || len(a.instances) > 0 {
		return command.Usage([]string{"--verify and --keys go together, and with nothing else"})
	}
	var v verdicts
	text, err := os.ReadFile(a.keys)
	if err != nil {
		v.cannotTell(a.verify, err)
		return v.end()
	}
	file, err := readEvidence(a.verify)
	if err != nil {
		v.cannotTell(a.verify, err)
		return v.end()
	}
	keys, err := parseKeys(text)
	if err != nil {
		v.cannotTell(a.verify, err)
		return v.end()
	}
	found := evidence.CheckFile(file, attest.Trust{Keys: keys, Now: time.Now()})
	switch document := found.Document; found.Verdict {
	case attest.Contradicted:
		v.refuted(Verified{File: a.verify}, found.Sentence)
	case attest.CannotTell:
		v.cannotTell(a.verify, errors.New(found.Sentence))
	case attest.Holds:
		err = command.Say(cmd, "%s\n", found.Sentence)
		for _, head := range document.Witnesses {
			err = errors.Join(err, command.Say(cmd, "witness %s\n", printable.Clean(head)))
		}
	}
	if err != nil {
		return err
	}
	return v.end()
}

// readEvidence reads no more than evidence may have.
func readEvidence(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	return io.ReadAll(io.LimitReader(file, evidence.MaxSigned))
}
