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
		Long: `Builds the PDF of a report, and the tables that go with it (findings.csv,
inventory.csv), again from the inputs that were recorded when it was made, and holds
them against the log, whose events of the report it verifies first.
Exit status with --verify:

  0  identical, byte for byte
  1  differs, or the inputs do not match their digest, or the events that name
     the digests (report.ready among them) do not verify; nothing is built then
  3  built by another renderer: the inputs match their digest, run the version
     that is named to get the same bytes
  4  the inputs were erased, and by which rule

--inputs asks no database, data directory or network: the report's inputs.json is all
that is needed, as its page and API give it or as the file store has it. So the program
that built a report builds it again, although a newer one has migrated the database since.
--against holds the PDF against one in hand: a PDF, signed or as it was built; the
report's proof.json; or a SHA-256. A signed PDF and a proof.json also name the inputs,
the tables and the program that built them. Whose proof it is, 'muster verify --offline'
says.`,
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
				return &command.ExitError{Status: command.ExitUsage, Err: errors.New("say what for: --verify, --file FILE, or both")}
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
	rebuild.Flags().BoolVar(&verify, "verify", false, "answer with the exit status")
	rebuild.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	rebuild.Flags().StringVar(&path, "file", "", "write the PDF to this new file")
	rebuild.Flags().StringVar(&name, "name", report.PDFFile, "write another of its files instead: findings.csv, inventory.csv")
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
