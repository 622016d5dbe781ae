package prove

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/proof/attest"
	"muster/internal/proof/checkpoint"
)

func eventsVerifyCommand(cfg *config.Config) *cobra.Command {
	var s selection
	var witness, export, keys string
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "verify [--witness LOG:POSITION:HASH|CHECKPOINT|FILE]",
		Short: "Verify the logs from their first event",
		Long: `Reads each log from its first event, and compares contents with digests, digests with
the chain, the last event with the head row, and the stored hashes of the Merkle tree
with the events. It also searches for gaps in positions and versions. Then it compares
the tree with everything that was signed about it: the kept checkpoints and proofs, and
the file next to the secret key. Exit status 1 means that something does not match; the
lines before it say what.

A chain that is stored next to its own data proves little: anyone who can rewrite all
of it can compute a new chain. --witness compares a log with a copy that you kept
elsewhere:

  * a head, from the footer of a report, its mail, the page or 'muster events witness',
    or a whole line of 'muster events head'
  * a checkpoint ('muster events checkpoint')
  * a file with one of them: a report's PDF or its proof.json

The command then checks only that log.`,
		Example: `  muster events verify
  muster events verify --witness reports:123:9f2c…
  muster events verify --witness 'muster-head-1 …'
  muster events verify --witness security.pdf
  muster events verify --export reports.jsonl     a file from 'muster events export', without a database`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logs, filter, err := s.read()
			if err != nil {
				return err
			}
			options := eventstore.VerifyOptions{Organization: filter.Organization}
			var known keptWitness
			if witness != "" {
				if known, err = readKept(witness, s.log); err != nil {
					return err
				}
				logs, options.Witness = []eventstore.Log{known.log}, known.head
			}
			if export != "" {
				if witness != "" && known.head == nil {
					return command.Usage([]string{"--witness: an exported file is held against a head (log:position:hash), and this is a checkpoint"})
				}
				return verifyExport(cmd, export, keys, options, asJSON)
			}
			if keys != "" {
				return command.Usage([]string{"--keys: only with --export"})
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				return verifyLogs(in, cmd, logs, options, known, asJSON)
			})
		},
	}
	cmd.Flags().StringVar(&s.log, "log", "", "reports, organization, fleet or keys (default all)")
	cmd.Flags().StringVar(&s.organization, "organization", "", "check only the contents of this organization's events, by id")
	cmd.Flags().StringVar(&witness, "witness", "", "a copy that you kept: log:position:hash, a line of 'muster events head', a checkpoint, or a file with one, a PDF or proof.json")
	cmd.Flags().StringVar(&export, "export", "", "check an exported file instead of the database")
	cmd.Flags().StringVar(&keys, "keys", "", "with --export: the installation's public keys; one of them must have signed the file")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	return cmd
}

// LogVerified is what came of a log, as --json has it.
type LogVerified struct {
	Log       eventstore.Log  `json:"log"`
	OK        bool            `json:"ok"`
	Events    int64           `json:"events"`
	Streams   int             `json:"streams"`
	Head      eventstore.Head `json:"head"`
	Misfits   int64           `json:"misfits"`
	Root      string          `json:"root,omitempty"` // of the Merkle tree over all events, hex
	Sentences []string        `json:"sentences"`      // what is printed without --json

	own int64 // events whose contents were checked
}

func verifyLogs(in *installation.Installation, cmd *cobra.Command, logs []eventstore.Log, options eventstore.VerifyOptions, known keptWitness, asJSON bool) error {
	all := make([]LogVerified, 0, len(logs))
	own := int64(0)
	for _, log := range logs {
		options.Progress = func(position, last int64) {
			if last > 100_000 {
				fmt.Fprintf(cmd.ErrOrStderr(), "\r%s: %d of %d", log, position, last)
			}
		}
		var said bytes.Buffer
		one, err := verifyLog(cmd.Context(), in, &said, log, options, known)
		if err != nil {
			return err
		}
		one.Sentences = strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
		all = append(all, one)
		own += one.own
		if asJSON {
			continue
		}
		if err := command.Say(cmd, "%s", said.String()); err != nil {
			return err
		}
	}
	if options.Organization != uuid.Nil && own == 0 {
		return fmt.Errorf("--organization: no event in %v is one of %s, so none was verified", logs, options.Organization)
	}
	return verifiedLogs(cmd, all, asJSON)
}

// verifiedLogs prints logs as one object, and is the command's outcome.
func verifiedLogs(cmd *cobra.Command, all []LogVerified, asJSON bool) error {
	whole := !slices.ContainsFunc(all, func(l LogVerified) bool { return !l.OK })
	if asJSON {
		if err := command.PrintJSON(cmd, map[string]any{"ok": whole, "logs": all}); err != nil {
			return err
		}
	}
	return brokenUnless(whole)
}

func verifyLog(ctx context.Context, in *installation.Installation, out io.Writer, log eventstore.Log, options eventstore.VerifyOptions, known keptWitness) (LogVerified, error) {
	verified, err := in.Events.Verify(ctx, log, options)
	if err != nil {
		return LogVerified{}, err
	}
	command.PrintVerification(out, verified)
	one := verifiedOf(verified)
	if known.checkpoint != "" {
		holds, err := holdAgainst(ctx, in, out, known, verified.Head.Position)
		if err != nil {
			return one, err
		}
		one.OK = one.OK && holds
	}
	if options.Organization != uuid.Nil {
		return one, nil
	}
	root, err := tree.New(in.DB).Check(ctx, log, verified.Head.Position)
	switch {
	case tree.Unfit(err):
		one.OK = false
		fmt.Fprintf(out, "  %v\n", err)
	case err != nil:
		return one, err
	case verified.OK():
		one.Root = hex.EncodeToString(root[:])
		fmt.Fprintf(out, "%s: tree ok, root %s over %d events\n", log, one.Root, verified.Head.Position)
	}
	held, err := in.Checkpoints.Hold(ctx, log)
	if err != nil {
		return one, err
	}
	one.OK = printHeld(out, held) && one.OK
	return one, nil
}

// printHeld says whether a log fits what was signed of it.
func printHeld(w io.Writer, held checkpoint.Held) bool {
	for _, sentence := range held.Sentences {
		fmt.Fprintf(w, "  %s\n", sentence)
	}
	if more := held.Misfits - len(held.Sentences); more > 0 {
		fmt.Fprintf(w, "  and %d more\n", more)
	}
	if held.Misfits == 0 && held.Any() {
		fmt.Fprintf(w, "%s: fits what was signed: %s\n", held.Log, held.Of())
	}
	return held.Misfits == 0
}

func verifiedOf(v eventstore.Verification) LogVerified {
	return LogVerified{Log: v.Log, OK: v.OK(), Events: v.Events, Streams: v.Streams, Head: v.Head, Misfits: int64(v.Misfits), own: v.Own}
}

func brokenUnless(whole bool) error {
	if whole {
		return nil
	}
	return &command.ExitError{Status: command.ExitFailed, Err: errors.New("the log does not fit; keep the database as it is and compare with a backup (docs/auditors.md)")}
}

// verifyExport checks a file alone. Without a signature by one of the given keys nobody can
// tell whose history it is.
func verifyExport(cmd *cobra.Command, path, keysFile string, options eventstore.VerifyOptions, asJSON bool) (err error) {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	verified, err := eventstore.VerifyExport(file, options)
	var other *eventstore.OtherLogError
	if errors.As(err, &other) {
		return &command.ExitError{Status: command.ExitUsage, Err: err}
	}
	if err != nil {
		return err
	}
	var said bytes.Buffer
	command.PrintVerification(&said, verified)
	if keysFile != "" {
		keys, err := readKeys(keysFile)
		var by string
		if err == nil {
			by, err = signerOf(verified, keys)
		}
		if err != nil {
			return &command.ExitError{Status: command.ExitCannotTell, Err: fmt.Errorf("cannot tell whose history it is: %w", err)}
		}
		fmt.Fprintf(&said, "%s: %s signed by key %s\n", verified.Log, map[bool]string{true: "file", false: "head"}[verified.Export.Whole], by)
	}
	printOpaque(&said, verified)
	if !asJSON {
		if err := command.Say(cmd, "%s", said.String()); err != nil {
			return err
		}
	}
	one := verifiedOf(verified)
	one.Sentences = strings.Split(strings.TrimSuffix(said.String(), "\n"), "\n")
	return verifiedLogs(cmd, []LogVerified{one}, asJSON)
}

// printOpaque says how much of an export can be read, and what its signature leaves open.
func printOpaque(w io.Writer, v eventstore.Verification) {
	fmt.Fprintf(w, "%s: %d of %d events are opaque: the file shows their digests alone\n", v.Log, v.Opaque(), v.Events)
	if !v.Export.Whole && v.Opaque() > 0 {
		fmt.Fprintf(w, "%s: the file is of the format muster-export-1, whose signature is over the head alone: it does not show whether events of the organization were made opaque; ask for a new export\n", v.Log)
	}
}

// signerOf is the key of a list that has signed an export.
func signerOf(v eventstore.Verification, keys attest.Keys) (id string, err error) {
	if v.Export.PublicKey == nil {
		return "", errors.New("the file is not signed")
	}
	spki, err := x509.MarshalPKIXPublicKey(v.Export.PublicKey)
	if err != nil {
		return "", err
	}
	for _, k := range keys.Of(attest.UseLog) {
		if !bytes.Equal(k.PublicKey, spki) || !strings.HasSuffix(k.Origin(), "/"+string(v.Log)) {
			continue
		}
		if k.Ended() != nil { // whoever has an old key can sign any date, and a file has no other clock
			return "", fmt.Errorf("key %s, which signed the file, was %s: ask for a new export", k.ID, k.Lifetime())
		}
		return k.ID, nil
	}
	return "", errors.New("none of the given keys signed it")
}

// readKeys reads a document of keys.
func readKeys(path string) (attest.Keys, error) {
	document, err := os.ReadFile(path)
	if err != nil {
		return attest.Keys{}, err
	}
	return parseKeys(document)
}

// parseKeys reads a document of keys, and holds it against its signature. What somebody
// changed in a document that they could not sign is refused.
func parseKeys(document []byte) (attest.Keys, error) {
	keys, err := attest.ParseKeys(document)
	if err != nil || unsignedKeys(keys) {
		return keys, err
	}
	var current attest.Keys // those that may sign a document: the installation revokes none of them
	for _, k := range keys.Of(attest.UseReport) {
		if k.ValidTo == nil && k.RevokedAt == nil {
			current.Keys = append(current.Keys, k)
		}
	}
	switch {
	case keys.Signature == nil:
		return attest.Keys{}, &attest.MalformedError{What: "keys", Reason: "it names an installation and the head of its log, but its signature is missing"}
	case !keys.SignedBy(current):
		return attest.Keys{}, &attest.MalformedError{What: "keys", Reason: "none of its current report keys signed it: it was changed since it was signed"}
	}
	return keys, nil
}

// unsignedKeys says whether a document is of a version that did not sign it, or made to look so.
func unsignedKeys(keys attest.Keys) bool {
	return keys.Signature == nil && keys.Installation == "" && keys.Head == ""
}

// unsignedSentence is what is said of such a document.
const unsignedSentence = "--keys: this document of keys has no signature: an earlier version made it, or somebody removed the signature. Dates in it may have been changed."

func eventsHeadCommand(cfg *config.Config) *cobra.Command {
	var asJSON bool
	var check, key string
	cmd := &cobra.Command{
		Use:   "head",
		Short: "Print the signed heads of the logs, which you keep elsewhere as witnesses",
		Long: `Prints one line for each log: log, position and hash, the installation's public key and
its Ed25519 signature. Keep the lines in a place where the database's administrators
cannot write. Later, 'muster events verify --witness LINE' compares the log with a line.`,
		Example: `  muster events head >> /somewhere/else/heads
  muster events head --check 'muster-head-1 …' --key BASE64`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if check != "" {
				return checkHead(cmd.OutOrStdout(), check, key)
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				var heads []eventstore.SignedHead
				for _, log := range eventstore.Logs {
					head, err := in.Events.Head(cmd.Context(), in.DB, log)
					if err != nil {
						return err
					}
					heads = append(heads, eventstore.SignHead(in.Key.Signer(), head))
				}
				if asJSON {
					return command.PrintJSON(cmd, keptHeads{heads})
				}
				for _, signed := range heads {
					fmt.Fprintln(cmd.OutOrStdout(), signed)
				}
				return nil
			})
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	cmd.Flags().StringVar(&check, "check", "", "check the signature of this kept line with --key, instead of printing heads")
	cmd.Flags().StringVar(&key, "key", "", "the public key of the expected signer in base64, in the form of the line or of the published document")
	return cmd
}

func eventsWitnessCommand(cfg *config.Config) *cobra.Command {
	log := string(eventstore.Reports)
	cmd := &cobra.Command{
		Use:   "witness [--log LOG]",
		Short: "Print the head of a log as log:position:hash, which you keep elsewhere",
		Long: `Prints one line for 'muster events verify --witness'. The line has no signature;
'muster events head' prints signed lines.`,
		Example: `  muster events witness >> /somewhere/else/witnesses`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logs, err := logsNamed(log)
			if err != nil || len(logs) != 1 {
				return &command.ExitError{Status: command.ExitUsage, Err: errors.Join(errors.New("--log: name one log"), err)}
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				head, err := in.Events.Head(cmd.Context(), in.DB, logs[0])
				if err != nil {
					return err
				}
				return command.Say(cmd, "%s\n", head)
			})
		},
	}
	cmd.Flags().StringVar(&log, "log", log, "reports, organization, fleet or keys")
	return cmd
}

func eventsExportCommand(cfg *config.Config) *cobra.Command {
	var log, organizationName, path string
	cmd := &cobra.Command{
		Use:   "export --log LOG [--in ORGANIZATION] [--file FILE]",
		Short: "Write a log to a file that can be verified without the database",
		Long: `Writes one JSON line for each event, with its exact bytes. With --in, the file has only
the digests of other organizations' events: the chain can be checked, and their content
is not shown. 'muster events verify --export FILE' checks the file.`,
		Example: `  muster events export --log reports --in "My organization" --file reports.jsonl`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			logs, err := logsNamed(log)
			if err != nil {
				return &command.ExitError{Status: command.ExitUsage, Err: err}
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) (err error) {
				target, err := exported(in, cmd, organizationName)
				if err != nil {
					return err
				}
				if err := in.Accounts.RecordOperation(cmd.Context(), target, accounts.EventsExported, string(logs[0])); err != nil {
					return err // nothing leaves unseen
				}
				out := cmd.OutOrStdout()
				if path != "" {
					var file *os.File
					if file, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600); err != nil {
						return err
					}
					defer func() { err = errors.Join(err, file.Close()) }()
					out = file
				}
				head, err := in.Events.Export(cmd.Context(), out, logs[0], target, in.Key.Signer())
				if err == nil {
					fmt.Fprintf(cmd.ErrOrStderr(), "exported up to %s\n", head)
				}
				return err
			})
		},
	}
	cmd.Flags().StringVar(&log, "log", "reports", "reports, organization, fleet or keys")
	cmd.Flags().StringVar(&organizationName, "in", "", "the organization's name or id (default: show the events of all organizations)")
	cmd.Flags().StringVar(&path, "file", "", "a new file (default standard output)")
	return cmd
}

// exported is the organization whose events an export shows; uuid.Nil: all.
func exported(in *installation.Installation, cmd *cobra.Command, nameOrID string) (uuid.UUID, error) {
	if nameOrID == "" {
		return uuid.Nil, nil
	}
	target, err := in.OrganizationNamed(cmd.Context(), nameOrID)
	return target.ID, err
}

// checkHead checks the signature of a line that was kept.
func checkHead(w io.Writer, line, key string) error {
	signed, err := eventstore.ParseSignedHead(line)
	if err != nil {
		return &command.ExitError{Status: command.ExitUsage, Err: fmt.Errorf("--check: %w", err)}
	}
	public, err := publicKey(key)
	if err != nil {
		return &command.ExitError{Status: command.ExitUsage, Err: fmt.Errorf("--key: the installation's public key in base64 is needed, from somewhere else than the line itself: %w", err)}
	}
	if err := eventstore.VerifySignedHead(public, signed); err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "signed by this key: %s\n", signed.Head)
	return err
}

// publicKey reads an Ed25519 key in base64: its 32 bytes, as a signed head has them, or SPKI,
// as the document of keys does.
func publicKey(text string) (ed25519.PublicKey, error) {
	key, err := base64.StdEncoding.DecodeString(text)
	switch {
	case err != nil:
		return nil, err
	case len(key) == ed25519.PublicKeySize:
		return key, nil
	}
	parsed, err := x509.ParsePKIXPublicKey(key)
	if err != nil {
		return nil, fmt.Errorf("it has %d bytes, and is neither a key of 32 bytes nor one as the document of keys has it", len(key))
	}
	public, ok := parsed.(ed25519.PublicKey)
	if !ok {
		return nil, errors.New("it is no Ed25519 key; the heads of logs are signed by keys with use log")
	}
	return public, nil
}
