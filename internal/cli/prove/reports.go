package prove

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/domain/report"
	"muster/handlers"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/intake/collect"
)

// ReportsCommand returns the command rebuild.
func ReportsCommand(cfg *config.Config) *cobra.Command {
	var verify, asJSON bool
	var path, name string
	var hand inHand
	rebuild := &cobra.Command{
		Use:   "rebuild ID [--verify] [--file FILE [--name NAME]]\n  muster reports rebuild --inputs FILE [--against FILE] [--verify] [--file FILE [--name NAME]]",
		Short: "Build a report's PDF and tables again from its recorded inputs",
		Long: `Verifies the report's events in the log, builds the report's PDF and tables
(findings.csv, cves.csv, accounts.csv, inventory.csv) again from the recorded inputs, and compares them with the
log. Exit status with --verify:

  0  the files are identical, byte for byte
  1  a file differs; or the inputs do not match their digest, or the events that name
     the digests (report.ready among them) do not verify, and nothing was built
  3  another renderer built the report: the inputs match their digest; run the named
     version to get the same bytes
  4  the inputs were erased; the command names the rule

--inputs needs no database, data directory or network, only the report's inputs.json,
from its page, the API or the file store. So the program that built a report can build
it again after a newer program has migrated the database.

--against compares the PDF with a record: a PDF (signed, or as it was built), the
report's proof.json, or a SHA-256. A signed PDF and a proof.json also name the inputs,
the tables and the program that built them. 'muster verify --offline' says who signed
the proof.`,
		Example: `  muster reports rebuild 0198c5de-… --verify
  muster reports rebuild --inputs inputs.json --against security.pdf --verify
  muster reports rebuild --inputs inputs.json --file again.pdf`,
		Args: func(cmd *cobra.Command, args []string) error {
			if cmd.Flags().Changed("inputs") {
				return cobra.MaximumNArgs(1)(cmd, args)
			}
			return cobra.ExactArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			var id uuid.UUID
			if len(args) > 0 {
				var err error
				if id, err = uuid.Parse(args[0]); err != nil {
					return &command.ExitError{Status: command.ExitUsage, Err: fmt.Errorf("%q is not a report's id", args[0])}
				}
			}
			if !verify && path == "" {
				return &command.ExitError{Status: command.ExitUsage, Err: errors.New("give --verify, --file FILE, or both")}
			}
			if err := hand.check(cmd, verify); err != nil {
				return err
			}
			answer := func(id uuid.UUID, outcome handlers.RebuildOutcome) error {
				var err error
				if asJSON {
					err = command.PrintJSON(cmd, rebuiltJSON(id, outcome))
				} else {
					err = command.Say(cmd, "%s\n", outcome)
				}
				if status := outcome.ExitStatus(); err == nil && verify && status != 0 {
					return &command.ExitError{Status: status}
				}
				return err
			}
			if hand.inputs != "" {
				id, outcome, err := hand.rebuild(id, path, name)
				if err != nil {
					return err
				}
				return answer(id, outcome)
			}
			return installation.WithFiles(cmd.Context(), cfg, func(in *installation.Installation) error {
				outcome, err := rebuild(in, cmd, id, path, name)
				if err != nil {
					return err
				}
				return answer(id, outcome)
			})
		},
	}
	hand.flags(rebuild)
	rebuild.Flags().BoolVar(&verify, "verify", false, "compare, and set the exit status by the result")
	rebuild.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	rebuild.Flags().StringVar(&path, "file", "", "write the PDF to this new file")
	rebuild.Flags().StringVar(&name, "name", report.PDFFile, "write this file of the report instead: findings.csv, cves.csv, accounts.csv, inventory.csv")
	return command.Parent("reports", "Reports that were built", rebuild)
}

func rebuiltJSON(id uuid.UUID, o handlers.RebuildOutcome) any {
	return map[string]any{
		"report": id, "verdict": o.Verdict, "sentence": o.String(), "status": o.ExitStatus(),
		"sha256": o.SHA256, "recordedSha256": o.Ready.PDFSHA256, "inputsSha256": o.Ready.InputsSHA256,
	}
}

func rebuild(in *installation.Installation, cmd *cobra.Command, id uuid.UUID, path, name string) (outcome handlers.RebuildOutcome, err error) {
	collector, err := collect.New(in.Facts, in.Commands, in.Fleet, in.Accepted(), in.Reach, in.Log, in.Clock.Now)
	if err != nil {
		return handlers.RebuildOutcome{}, err
	}
	parts, err := in.Parts(collector)
	if err != nil {
		return handlers.RebuildOutcome{}, err
	}
	err = intoNew(path, func(out io.Writer) error {
		outcome, err = (&handlers.Rebuilder{Parts: parts, File: name}).Rebuild(cmd.Context(), id, out)
		return err
	})
	if err != nil {
		return outcome, err
	}
	if outcome.FileAltered() {
		if err := in.Accounts.RecordOperation(cmd.Context(), outcome.Organization, accounts.FileAltered, "report "+id.String()+", "+outcome.Ready.InputsKey); err != nil {
			return outcome, err
		}
	}
	return outcome, in.Accounts.RecordOperation(cmd.Context(), outcome.Organization, accounts.RebuildRequested, "report "+id.String())
}

// intoNew has a file written that is not there yet; an empty path: nothing is kept. No file
// stays that nothing was written to.
func intoNew(path string, build func(io.Writer) error) (err error) {
	if path == "" {
		return build(io.Discard)
	}
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer func() {
		written, statErr := file.Stat()
		err = errors.Join(err, statErr, file.Close())
		if statErr == nil && written.Size() == 0 {
			err = errors.Join(err, os.Remove(path))
		}
	}()
	return build(file)
}
