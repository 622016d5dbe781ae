package prove

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/mod/sumdb/note"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/proof/attest"
	"muster/internal/proof/attest/offline"
	"muster/internal/proof/pades"
)

// maxWitness bounds the files that are read as witnesses: a signed PDF is the longest.
const maxWitness = 256 << 20

// keptWitness is what somebody kept of a log: a head, a checkpoint, or both.
type keptWitness struct {
	log        eventstore.Log
	head       *eventstore.Head
	checkpoint string // signed note; empty: none
	tree       attest.Tree
}

// readKept reads a witness in each form in which one is printed, as text or as the name of
// a file. log is what --log says and may be empty.
func readKept(witness, log string) (k keptWitness, err error) {
	text := []byte(witness)
	if file, err := os.Open(witness); err == nil {
		defer func() { _ = file.Close() }()
		if text, err = io.ReadAll(io.LimitReader(file, maxWitness)); err != nil {
			return k, command.Usage([]string{"--witness: " + err.Error()})
		}
	} else if !errors.Is(err, fs.ErrNotExist) && !strings.Contains(witness, "\n") && len(witness) < 200 {
		return k, command.Usage([]string{"--witness: " + err.Error()})
	}
	k, err = parseKept(text, log)
	if err == nil && log != "" && log != string(k.log) {
		err = fmt.Errorf("it is one of log %s, and --log says %s", k.log, log)
	}
	if err != nil {
		return k, &command.ExitError{Status: command.ExitUsage, Err: fmt.Errorf("--witness: %w", err)}
	}
	return k, nil
}

// keptHeads is what 'muster events head --json' prints.
type keptHeads struct {
	Heads []eventstore.SignedHead `json:"heads"`
}

// headOf is the head of a log among those of all, of reports where none is named.
func headOf(document []byte, log string) (k keptWitness, err error) {
	var all keptHeads
	if err := json.Unmarshal(document, &all); err != nil {
		return k, err
	}
	for _, signed := range all.Heads {
		if string(signed.Head.Log) == cmp.Or(log, string(eventstore.Reports)) {
			return keptWitness{log: signed.Head.Log, head: &signed.Head}, eventstore.VerifySignedHead(signed.PublicKey, signed)
		}
	}
	return k, errors.New("none of its heads is one of that log")
}

func parseKept(text []byte, log string) (k keptWitness, err error) {
	switch trimmed := bytes.TrimSpace(text); {
	case bytes.HasPrefix(text, []byte("%PDF-")):
		return keptOfPDF(text)
	case bytes.HasPrefix(trimmed, []byte("{")) && bytes.Contains(trimmed, []byte(`"format"`)):
		return keptOfProof(trimmed)
	case bytes.HasPrefix(trimmed, []byte(`{"heads"`)):
		return headOf(trimmed, log)
	case bytes.Contains(text, []byte("\n\n— ")):
		return keptOfCheckpoint(string(bytes.TrimLeft(text, " \t\r\n")))
	default:
		if mail, ok := offline.ReadMail(text); ok {
			trimmed = []byte(offline.MailLabels(mail.Text)["Witness"])
		}
		head, err := eventstore.ParseWitness(string(trimmed))
		return keptWitness{log: head.Log, head: &head}, err
	}
}

func keptOfCheckpoint(text string) (k keptWitness, err error) {
	if !strings.HasSuffix(text, "\n") { // a shell takes the last line's end away
		text += "\n"
	}
	if k.tree, err = attest.ParseCheckpoint(text); err != nil {
		return k, err
	}
	k.checkpoint, k.log = text, eventstore.Log(k.tree.Origin[strings.LastIndex(k.tree.Origin, "/")+1:])
	if !slices.Contains(eventstore.Logs, k.log) {
		return k, fmt.Errorf("checkpoint: %q is the origin of no log of Muster", k.tree.Origin)
	}
	return k, nil
}

// keptOfProof is the head with Ready in it, and the checkpoint over that.
func keptOfProof(document []byte) (keptWitness, error) {
	p, err := attest.ParseProof(document)
	if err != nil {
		return keptWitness{}, err
	}
	k, err := keptOfCheckpoint(p.Checkpoint)
	if err != nil {
		return k, err
	}
	head, err := eventstore.ParseWitness(fmt.Sprintf("%s:%d:%s", p.Event.Log, p.Event.Position, p.Event.Hash))
	if err == nil && head.Log != k.log {
		err = fmt.Errorf("its event is of log %s, and its checkpoint of %s", head.Log, k.log)
	}
	k.head = &head
	return k, err
}

// printedWitness is the witness among the keywords of a PDF, in its XMP.
var printedWitness = regexp.MustCompile(`<pdf:Keywords>[^<]* witness:([a-z]+:\d+:[0-9a-f]{64})</pdf:Keywords>`)

// keptOfPDF is what the proof in a signed PDF says, else what is printed in it.
func keptOfPDF(file []byte) (keptWitness, error) {
	signed, err := pades.Split(file)
	if signed.Proof != nil {
		return keptOfProof(signed.Proof)
	}
	found := printedWitness.FindSubmatch(file)
	if found == nil {
		return keptWitness{}, fmt.Errorf("the PDF has neither a proof nor a witness of Muster's: %w", err)
	}
	head, err := eventstore.ParseWitness(string(found[1]))
	return keptWitness{log: head.Log, head: &head}, err
}

// holdAgainst says whether a kept checkpoint is of the log as it is. Whether events and
// tiles are what that tree is of is checked beside it.
func holdAgainst(ctx context.Context, in *installation.Installation, out io.Writer, k keptWitness, size int64) (bool, error) {
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	if want := in.Signing.Origin(k.log); k.tree.Origin != want {
		say("  the checkpoint is one of %s, and this log is %s: another installation's", k.tree.Origin, want)
		return false, nil
	}
	if k.tree.Size > size {
		say("  the checkpoint is over %d events, and the log has %d: events are gone", k.tree.Size, size)
		return false, nil
	}
	root, err := tree.New(in.DB).Root(ctx, k.log, k.tree.Size)
	if err != nil {
		return false, err
	}
	if root != k.tree.Root {
		say("  the first %d events have the root %s, and the checkpoint says %s: the log was changed since", k.tree.Size, root, k.tree.Root)
		return false, nil
	}
	by, ok, err := signersOf(ctx, in, k)
	switch {
	case err != nil:
		return false, err
	case ok:
		say("%s: checkpoint over %d events ok, %s", k.log, k.tree.Size, by)
	default:
		say("  the checkpoint is the log's, and %s", by)
	}
	return ok, nil
}

// signersOf says who has signed a checkpoint; false: somebody changed a signature.
func signersOf(ctx context.Context, in *installation.Installation, k keptWitness) (string, bool, error) {
	published, err := in.Signing.Keys(ctx)
	if err != nil {
		return "", false, err
	}
	var by []string
	for _, key := range published.Of(attest.UseLog) {
		verifier, err := note.NewVerifier(key.VerifierKey)
		if err != nil || verifier.Name() != k.tree.Origin {
			continue
		}
		opened, err := note.Open([]byte(k.checkpoint), note.VerifierList(verifier))
		var other *note.UnverifiedNoteError
		switch {
		case errors.As(err, &other):
		case err != nil:
			return fmt.Sprintf("the signature of key %s below it was changed", key.ID), false, nil
		case len(opened.Sigs) > 0 && key.Lifetime() != "":
			by = append(by, fmt.Sprintf("%s (%s)", key.ID, key.Lifetime()))
		default:
			by = append(by, key.ID)
		}
	}
	if len(by) == 0 {
		return "signed by no key of this installation", true, nil
	}
	return "signed by key " + strings.Join(by, " and "), true, nil
}

func eventsCheckpointCommand(cfg *config.Config) *cobra.Command {
	log := string(eventstore.Reports)
	cmd := &cobra.Command{
		Use:   "checkpoint [--log LOG]",
		Short: "Print the last checkpoint of a log, which you keep elsewhere",
		Long: `Prints the signed root of the log's Merkle tree, with the signatures of witnesses below
it, as GET /proof/LOG/checkpoint does. Later, 'muster events verify --witness FILE'
compares the log with it.`,
		Example: `  muster events checkpoint > /somewhere/else/checkpoint`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logs, err := logsNamed(log)
			if err != nil || len(logs) != 1 {
				return &command.ExitError{Status: command.ExitUsage, Err: errors.Join(errors.New("--log: name one log"), err)}
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				last, ok, err := in.Checkpoints.Latest(cmd.Context(), logs[0])
				if err != nil {
					return err
				}
				if !ok {
					return fmt.Errorf("log %s has no checkpoint yet: serve makes one within a minute of its first event", logs[0])
				}
				return command.Say(cmd, "%s", last.Note)
			})
		},
	}
	cmd.Flags().StringVar(&log, "log", log, "reports, organization, fleet or keys")
	return cmd
}
