package prove

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/jmoiron/sqlx"
	"github.com/spf13/cobra"

	"muster/commands/notifying"
	"muster/domain/printable"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/proof/attest"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
)

// KeysCommand returns the command keys.
func KeysCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("keys", "The keys: list, rotate, retire, revoke, export, accept-unmarked",
		keysListCommand(cfg), keysRotateCommand(cfg), keysRetireCommand(cfg), keysRevokeCommand(cfg), keysExportCommand(cfg), keysAcceptUnmarkedCommand(cfg))
}

func keysRotateCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "rotate",
		Short: "Create a new secret key and re-encrypt everything under it",
		Long: `Puts a new key in front of the old ones in the secret key file. In one transaction, the
command seals the connection strings of all servers and the addresses of channels again
under the new key. Running processes that use the same file notice the change by
themselves. A machine with a copy of the file needs the new file: until then, it cannot
open newly sealed data, and does not start again.

If the rotation is interrupted, everything can still be read; run the command again to
finish. The old keys stay in the file until 'muster keys retire'. From now on the new key
signs the heads of the logs; 'muster keys list' prints the public keys.`,
		Args: cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			done, err := secrets.Rotate(cmd.Context(), in.DB, in.Key.Path(), func(ctx context.Context, tx *sqlx.Tx) (int, error) { return reseal(ctx, in, tx) }, func(r secrets.Rotation) error {
				return in.Accounts.RecordSystem(cmd.Context(), accounts.KeysRotated, r.Current+" in the place of "+r.Previous)
			})
			if err != nil {
				return err
			}
			if err := in.Signing.Publish(cmd.Context()); err != nil { // serve does it, too
				return err
			}
			what := "rotated"
			if done.Finished {
				what = "finished the rotation"
			}
			return command.Say(cmd, "%s: the secret key is %s, in the place of %s; connections sealed again: %d\n"+
				"keep %s safe as before; the old key stays in it until 'muster keys retire'\n",
				what, done.Current, done.Previous, done.Resealed, in.Key.Path())
		}),
	}
}

// reseal seals again whatever is sealed.
func reseal(ctx context.Context, in *installation.Installation, tx *sqlx.Tx) (int, error) {
	connections, err := in.Facts.Reseal(ctx, tx)
	if err != nil {
		return 0, err
	}
	channels, err := in.Commands.ResealChannels(ctx, tx)
	return connections + channels, err
}

// sealed counts what is sealed by the fingerprint of its key.
func sealed(ctx context.Context, in *installation.Installation, q sqlx.QueryerContext) (map[string]int, error) {
	count, err := in.Facts.Sealed(ctx, q)
	if err != nil {
		return nil, err
	}
	channels, err := notifying.SealedChannels(ctx, q, in.Key.SealedUnder)
	for key, n := range channels {
		count[key] += n
	}
	return count, err
}

func keysRetireCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "retire",
		Short: "Remove the old secret keys from the key file",
		Long: `Seals all data under old keys again under the current key, and then removes the old keys
from the secret key file. Afterwards, data that a process seals with an old copy of the
file is refused, so first give every machine the new file.

The signatures of an old key on log heads stay valid: its public key stays in
'muster keys list', for 'muster events head --check LINE --key PUBLIC'. Earlier backups contain
their own key file, so you can restore them without changes.`,
		Args: cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			if err := in.Signing.Publish(cmd.Context()); err != nil { // what goes stays published
				return err
			}
			reseal := func(ctx context.Context, tx *sqlx.Tx) (int, error) {
				n, err := reseal(ctx, in, tx)
				if err != nil {
					return n, err
				}
				return n, in.Signing.Retire(ctx, tx)
			}
			retired, err := secrets.Retire(cmd.Context(), in.DB, in.Key.Path(), reseal, func(retired []string) error {
				return in.Accounts.RecordSystem(cmd.Context(), accounts.KeysRotated, "retired "+strings.Join(retired, ", "))
			})
			if err != nil {
				return err
			}
			if len(retired) == 0 {
				return command.Say(cmd, "there is no old key in %s\n", in.Key.Path())
			}
			return command.Say(cmd, "retired %s; its public key stays in 'muster keys list', to check log heads it has signed\n", strings.Join(retired, ", "))
		}),
	}
}

func keysRevokeCommand(cfg *config.Config) *cobra.Command {
	var since, reason string
	cmd := &cobra.Command{
		Use:   "revoke ID --since T",
		Short: "Revoke a key that somebody else may have had since a given time",
		Long: `Publishes that nobody should trust a key from the time T on. ID is a fingerprint from
'muster keys list', or the id of a key from 'muster keys export'. The command revokes all
keys that come from the same secret key. A check with the new document of keys then
accepts a signature of the key only if a time stamp or a witness shows that the signature
is older than T.

T is the earliest time at which somebody else may have had the key, such as
2026-11-23T12:00:00Z or 2026-11-23. You can later change it to an earlier time, but never
to a later one. You cannot revoke the current key: rotate first.

Give the new document of keys to your auditors, because their copy does not have the
revocation. docs/runbooks/rotate-keys.md has the whole procedure.`,
		Example: `  muster keys rotate && muster keys retire
  muster keys revoke f28a8514dea843af --since 2026-11-23T12:00:00Z --reason "a backup was stolen"`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			r, err := revocation(args[0], since, reason, time.Now())
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				revoked, err := in.Signing.Revoke(cmd.Context(), r, func(revoked []attest.Key) error {
					return in.Accounts.RecordSystem(cmd.Context(), accounts.KeysRevoked, args[0]+" "+revoked[0].Lifetime())
				})
				if err != nil {
					return err
				}
				for _, k := range revoked {
					if err := command.Say(cmd, "%s key %s: %s\n", k.Use, k.ID, k.Lifetime()); err != nil {
						return err
					}
				}
				return command.Say(cmd, "give the new document to your auditors: muster keys export\n")
			})
		},
	}
	cmd.Flags().StringVar(&since, "since", "", "the earliest time at which somebody else may have had the key")
	cmd.Flags().StringVar(&reason, "reason", "", "the reason, for auditors; without personal data")
	return cmd
}

// maxReason bounds the reason of a revocation, in characters.
const maxReason = 200

// revocation reads what is given. Each thing that is wrong is named.
func revocation(id, since, reason string, now time.Time) (r signing.Revocation, err error) {
	var wrong []string
	r = signing.Revocation{ID: id, Reason: strings.TrimSpace(reason)}
	for _, form := range []string{time.RFC3339, time.DateOnly} {
		if r.Since, err = time.Parse(form, since); err == nil {
			break
		}
	}
	switch {
	case since == "":
		wrong = append(wrong, "--since: say from when on the key may have been in other hands")
	case err != nil:
		wrong = append(wrong, fmt.Sprintf("--since: %q is no time: wanted 2026-11-23T12:00:00Z or 2026-11-23", since))
	case r.Since.After(now):
		wrong = append(wrong, fmt.Sprintf("--since: %s has not come yet", r.Since.UTC().Format(time.RFC3339)))
	}
	r.Since = r.Since.UTC().Truncate(time.Microsecond)
	if utf8.RuneCountInString(r.Reason) > maxReason || !printable.IsText(r.Reason) || strings.Contains(r.Reason, "\n") {
		wrong = append(wrong, fmt.Sprintf("--reason: wanted one line of at most %d characters", maxReason))
	}
	return r, command.Usage(wrong)
}

func keysListCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "Print the secret keys' fingerprints, dates and public keys",
		Long: `Prints every key that the installation ever had, oldest first, with its start, its state
(current; old: still in the key file; retired; revoked), the number of connections that
are sealed under it, and the public key that checks its signatures on log heads. The
command prints no secret. 'muster keys export' prints the public keys for checkpoints,
reports and PDFs.`,
		Args: cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			known, err := secrets.History(cmd.Context(), in.DB)
			if err != nil {
				return err
			}
			sealed, err := sealed(cmd.Context(), in, in.DB)
			if err != nil {
				return err
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "FINGERPRINT\tSINCE\tSTATE\tSEALED\tPUBLIC KEY")
			revoked, err := in.Signing.Revoked(cmd.Context())
			if err != nil {
				return err
			}
			for _, line := range keyLines(known, in.Key.Keys(), sealed, revoked) {
				fmt.Fprintln(w, strings.Join(line, "\t"))
			}
			return w.Flush()
		}),
	}
}

func keysExportCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "export",
		Short: "Print the public keys that check checkpoints, reports and PDFs",
		Long: `Prints the same document as GET /.well-known/muster-keys.json: every public key that
signs or ever signed for this installation. Use it with 'muster verify --offline --keys
FILE'. Keep the document in a place where the database's administrators cannot write:
keys from the same place as a report prove nothing about the report.`,
		Example: `  muster keys export > muster-keys.json`,
		Args:    cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			keys, err := in.Signing.Keys(cmd.Context())
			if err != nil {
				return err
			}
			sayFingerprint(cmd, keys)
			to := json.NewEncoder(cmd.OutOrStdout())
			to.SetIndent("", "  ")
			return to.Encode(keys)
		}),
	}
}

// sayFingerprint tells whoever keeps the document what to compare with reports and mails.
func sayFingerprint(cmd *cobra.Command, keys attest.Keys) {
	fmt.Fprintf(cmd.ErrOrStderr(), "these keys have the fingerprint %s, which current reports and mails print\n", keys.Fingerprint())
}

// keyLines joins what the database knows of the keys with the file. A key of the
// file that the database does not know was put there by a rotation that is not
// finished.
func keyLines(known []secrets.Record, file []*secrets.Key, sealed map[string]int, revoked map[string]attest.Key) [][]string {
	inFile := make(map[string]bool)
	for _, k := range file {
		inFile[k.Fingerprint()] = true
	}
	var lines [][]string
	for _, k := range known {
		state := "old"
		switch {
		case k.Current:
			state = "current"
		case k.RetiredAt != nil:
			state = "retired " + k.RetiredAt.UTC().Format(time.DateOnly)
		}
		if !inFile[k.Fingerprint] && k.RetiredAt == nil {
			state += ", not in the file"
		}
		if r, ok := revoked[k.Fingerprint]; ok {
			state += ", " + printable.Clean(r.Lifetime())
		}
		lines = append(lines, []string{
			k.Fingerprint, k.Since.UTC().Format(time.RFC3339), state,
			strconv.Itoa(sealed[k.Fingerprint]), base64.StdEncoding.EncodeToString(k.PublicKey),
		})
		delete(inFile, k.Fingerprint)
	}
	for _, k := range file {
		if inFile[k.Fingerprint()] {
			lines = append(lines, []string{
				k.Fingerprint(), "-", "new: 'muster keys rotate' finishes", strconv.Itoa(sealed[k.Fingerprint()]),
				base64.StdEncoding.EncodeToString(k.PublicKey()),
			})
		}
	}
	return lines
}
