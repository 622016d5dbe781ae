package prove

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/internal/cli/command"
	"muster/internal/files/blobs"
	"muster/internal/proof/attest/offline"
	"muster/internal/report/pdf"
)

// inHand are the files that `reports rebuild --inputs` works with, instead of an installation.
type inHand struct {
	inputs, against string
	offline         bool
}

func (h *inHand) flags(cmd *cobra.Command) {
	cmd.Flags().StringVar(&h.inputs, "inputs", "", "build from this inputs.json, without a database")
	cmd.Flags().StringVar(&h.against, "against", "", "with --inputs: compare the PDF with this PDF, proof.json or SHA-256")
	cmd.Flags().BoolVar(&h.offline, "offline", false, "use no database and no network; --inputs implies this")
}

// check says what of the flags does not fit together.
func (h *inHand) check(cmd *cobra.Command, verify bool) error {
	var wrong []string
	given := cmd.Flags().Changed("inputs")
	switch {
	case given && h.inputs == "":
		wrong = append(wrong, "--inputs: name the report's inputs.json")
	case !given && h.offline:
		wrong = append(wrong, "--offline: only with --inputs, the report's inputs.json")
	case given && verify && h.against == "":
		wrong = append(wrong, "--verify: also give --against with a PDF, a proof.json or a SHA-256 to compare with")
	}
	if against := cmd.Flags().Changed("against"); against && !given {
		wrong = append(wrong, "--against: only with --inputs")
	} else if against && h.against == "" {
		wrong = append(wrong, "--against: name a PDF, a proof.json or a SHA-256")
	}
	return command.Usage(wrong)
}

// rebuild builds the report whose inputs are in hand; id is the one that was asked for, or Nil.
func (h *inHand) rebuild(id uuid.UUID, path, name string) (uuid.UUID, handlers.RebuildOutcome, error) {
	fail := func(flag, value string, err error) (uuid.UUID, handlers.RebuildOutcome, error) {
		return id, handlers.RebuildOutcome{}, fmt.Errorf("--%s %s: %w", flag, value, err)
	}
	inputs, err := readInputs(h.inputs)
	if err != nil {
		return fail("inputs", h.inputs, err)
	}
	recorded, err := readRecorded(h.against)
	if err != nil {
		return fail("against", h.against, err)
	}
	of, err := handlers.ReadInputs(inputs)
	switch {
	case err != nil && recorded == nil:
		return fail("inputs", h.inputs, err)
	case err == nil && id != uuid.Nil && id != of.ReportID:
		return fail("inputs", h.inputs, fmt.Errorf("these are the inputs of report %s, not of %s", of.ReportID, id))
	}
	renderer, err := pdf.New(pdf.Build{Version: command.Version(), Commit: command.BuildCommit()})
	if err != nil {
		return id, handlers.RebuildOutcome{}, err
	}
	var outcome handlers.RebuildOutcome
	err = intoNew(path, func(out io.Writer) error {
		outcome, err = (&handlers.Rebuilder{Parts: handlers.Parts{Renderer: renderer}, File: name}).RebuildInputs(inputs, recorded, out)
		return err
	})
	var unread *handlers.NoInputsError
	if errors.As(err, &unread) {
		return fail("inputs", h.inputs, err)
	}
	return of.ReportID, outcome, err
}

// readInputs reads an inputs document, as the API gives it or as the file store has it.
func readInputs(path string) ([]byte, error) {
	content, err := os.ReadFile(path)
	if err == nil && blobs.PackedInputs(content) {
		content, err = blobs.UnpackInputs(path, content)
	}
	return content, err
}

// readRecorded reads what --against names.
func readRecorded(against string) (*handlers.Recorded, error) {
	if against == "" {
		return nil, nil //nolint:nilnil // nothing is to be held against
	}
	if sum, err := hex.DecodeString(against); err == nil && len(sum) == 32 {
		return &handlers.Recorded{Ready: report.Ready{PDFSHA256: hex.EncodeToString(sum)}}, nil
	}
	content, err := os.ReadFile(against)
	if err != nil {
		return nil, err
	}
	found, err := offline.ReadRecorded(content)
	if err != nil {
		return nil, err
	}
	recorded := &handlers.Recorded{Ready: report.Ready{PDFSHA256: found.PDFSHA256}, Fault: found.Fault}
	if found.Proof == nil || found.Fault != "" {
		return recorded, nil
	}
	event := found.Proof.Event
	decoded, err := usecase.Registry().Decode(eventstore.Event{Type: event.Type, SchemaVersion: event.SchemaVersion, Data: []byte(event.Data)})
	if err != nil {
		return nil, err
	}
	ready, ok := decoded.(report.Ready)
	if !ok {
		return nil, fmt.Errorf("the proof is about an event %q", event.Type)
	}
	recorded.Ready, recorded.Whole = ready, true
	return recorded, nil
}
