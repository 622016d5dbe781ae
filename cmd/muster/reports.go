package main

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
	"muster/internal/config"
	"muster/internal/intake/collect"
)

func reportsCommand(cfg *config.Config) *cobra.Command {
	var verify, asJSON bool
	var path, name string
	rebuild := &cobra.Command{
		Use:   "rebuild ID [--verify] [--file FILE [--name NAME]]",
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
  4  the inputs were erased, and by which rule`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			id, err := uuid.Parse(args[0])
			if err != nil {
				return &exitError{status: exitUsage, err: fmt.Errorf("%q is not a report's id", args[0])}
			}
			if !verify && path == "" {
				return &exitError{status: exitUsage, err: errors.New("say what for: --verify, --file FILE, or both")}
			}
			return withFiles(cmd.Context(), cfg, func(in *installation) error {
				outcome, err := in.rebuild(cmd, id, path, name)
				if err != nil {
					return err
				}
				if asJSON {
					err = printJSON(cmd, rebuiltJSON(id, outcome))
				} else {
					err = say(cmd, "%s\n", outcome)
				}
				if err != nil {
					return err
				}
				if status := outcome.ExitStatus(); verify && status != 0 {
					return &exitError{status: status}
				}
				return nil
			})
		},
	}
	rebuild.Flags().BoolVar(&verify, "verify", false, "answer with the exit status")
	rebuild.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	rebuild.Flags().StringVar(&path, "file", "", "write the PDF to this new file")
	rebuild.Flags().StringVar(&name, "name", report.PDFFile, "write another of its files instead: findings.csv, inventory.csv")
	return parent("reports", "Reports that were built", rebuild)
}

func rebuiltJSON(id uuid.UUID, o handlers.RebuildOutcome) any {
	return map[string]any{
		"report": id, "verdict": o.Verdict, "sentence": o.String(), "status": o.ExitStatus(),
		"sha256": o.SHA256, "recordedSha256": o.Ready.PDFSHA256, "inputsSha256": o.Ready.InputsSHA256,
	}
}

func (in *installation) rebuild(cmd *cobra.Command, id uuid.UUID, path, name string) (_ handlers.RebuildOutcome, err error) {
	collector, err := collect.New(in.facts, in.commands, in.fleet, in.accepted(), in.reach, in.log, in.clock.Now)
	if err != nil {
		return handlers.RebuildOutcome{}, err
	}
	parts, err := in.parts(collector)
	if err != nil {
		return handlers.RebuildOutcome{}, err
	}
	out := io.Discard
	if path != "" {
		var file *os.File
		if file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
			return handlers.RebuildOutcome{}, err
		}
		defer func() {
			written, statErr := file.Stat()
			err = errors.Join(err, statErr, file.Close())
			if statErr == nil && written.Size() == 0 { // nothing could be built
				err = errors.Join(err, os.Remove(path))
			}
		}()
		out = file
	}
	outcome, err := (&handlers.Rebuilder{Parts: parts, File: name}).Rebuild(cmd.Context(), id, out)
	if err != nil {
		return outcome, err
	}
	if outcome.FileAltered() {
		if err := in.accounts.RecordOperation(cmd.Context(), outcome.Organization, accounts.FileAltered, "report "+id.String()+", "+outcome.Ready.InputsKey); err != nil {
			return outcome, err
		}
	}
	return outcome, in.accounts.RecordOperation(cmd.Context(), outcome.Organization, accounts.RebuildRequested, "report "+id.String())
}
