package operate

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"muster/commands/usecase"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/concurrency/pause"
	"muster/internal/config"
	"muster/internal/files/blobs"
	"muster/internal/operate/backup"
	"muster/internal/postgres"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
)

// BackupCommand returns the command backup.
func BackupCommand(cfg *config.Config) *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy database, files and keys into a new directory; serve may run",
		Long: `Makes a backup in DIR, which must be empty or absent:

  database.dump   one snapshot of the database (pg_dump)
  blobs/          every PDF and inputs document that the log names at that moment
  secret.key      the secret keys; connection strings cannot be opened without them
  manifest.json   the list of files with their digests, and the signed heads of the
                  logs. It is written last: a directory without it is not a backup

The command verifies the logs up to the heads that it signs. Keep the backup as safe
as the installation itself, because it holds the keys. A failed backup is removed. A
killed backup leaves its files and manifest.json.part. The command needs pg_dump of
the server's major version or a newer one. It prints the heads of the logs, which are
witnesses: keep them elsewhere.`,
		Example: "  muster backup /backups/muster-$(date +%F)",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return installation.WithFiles(cmd.Context(), cfg, func(in *installation.Installation) error {
				report, stop := progress(cmd.ErrOrStderr())
				made, err := BackupSource(in, report, accept).Make(cmd.Context(), args[0])
				stop()
				if err != nil {
					return err
				}
				return printBackup(cmd, args[0], made)
			})
		},
	}
	cmd.Flags().BoolVar(&accept, "accept-findings", false, "make the backup even if events do not match, or files are missing, damaged or unreadable, and list these findings in it")
	return cmd
}

// BackupSource is what a backup of the installation reads.
func BackupSource(in *installation.Installation, report func(string), accept bool) *backup.Source {
	return &backup.Source{
		DB: in.DB, Database: database(in), Events: in.Events, Registry: usecase.Registry(), Blobs: in.Blobs, Keys: in.Key,
		Sealed: in.Facts.Sealed, Version: command.BuildVersion(), Now: in.Clock.Now, Progress: report, AcceptFindings: accept,
		Accepted: checkpoint.NewVerifier(in.DB, in.Log).Accepted,
		Record: func(ctx context.Context, made backup.Manifest) error {
			return in.Accounts.RecordSystem(ctx, accounts.BackupMade, made.MadeAt.Format(time.RFC3339))
		},
	}
}

func printBackup(cmd *cobra.Command, dir string, made backup.Manifest) error {
	out := cmd.OutOrStdout()
	var size int64
	for _, f := range made.Files {
		size += f.SizeBytes
	}
	fmt.Fprintf(out, "backup in %s: organizations %d, files %d, bytes %d\n", dir, made.Organizations, len(made.Files), size)
	for _, a := range made.Absent {
		fmt.Fprintf(out, "not in it: %s (%s)\n", a.Name, a.Reason)
	}
	for _, f := range made.Findings {
		fmt.Fprintf(out, "does not fit: %s\n", f)
	}
	for _, head := range made.Heads {
		if _, err := fmt.Fprintln(out, head); err != nil {
			return err
		}
	}
	return nil
}

// database is the installation's database as PostgreSQL's programs reach it.
func database(in *installation.Installation) postgres.DumpDatabase {
	return postgres.DumpDatabase{URL: in.URL, Private: in.Server != nil}
}

// progressEvery is how often long work says where it is: who waits less than
// that is told nothing but the outcome.
const progressEvery = 3 * time.Second

// progress tells a person at the terminal what is being done, until stop.
func progress(w io.Writer) (report func(string), stop func()) {
	var now atomic.Pointer[string]
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for started := time.Now(); pause.For(ctx, progressEvery) == nil; {
			if what := now.Load(); what != nil {
				fmt.Fprintf(w, "%s (%s so far)\n", *what, time.Since(started).Round(time.Second))
			}
		}
	}()
	return func(what string) { now.Store(&what) }, func() { cancel(); <-ended }
}

// RestoreCommand returns the command restore.
func RestoreCommand(cfg *config.Config) *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "Load a backup into an empty installation, and verify all of it",
		Long: `Loads a backup into a new installation, which needs:

  * a data directory without a database, or a --database-url with an empty database
  * an empty blob store
  * no secret key file, or the one of the backup

The command compares the backup with its manifest, and then loads everything. It
verifies the logs against the heads that were signed with the backup, and every file
against the log. Until the restore is complete, no other command opens the
installation. If it is interrupted, run it again, and it continues where it stopped.

The restored state is that of the backup. All users must sign in again. Tokens that
were revoked, and members who were disabled, after the backup are back: check them.
Stop the old installation: it must not run next to this one.`,
		Example: `  muster restore /backups/muster-2026-11-20 --data-dir /var/lib/muster
  muster restore /backups/muster-2026-11-20 --database-url postgres://muster@db/muster --blob-url s3://new-bucket`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			report, stop := progress(cmd.ErrOrStderr())
			defer stop()
			b, err := backup.Read(cmd.Context(), args[0], report)
			if err != nil {
				return err
			}
			return Restore(cmd, cfg, b, report, accept)
		},
	}
	cmd.Flags().BoolVar(&accept, "accept-findings", false, "finish even if logs or files do not match, and print what does not match")
	return cmd
}

// Restore opens what is to become the installation, and nothing of it before the
// backup was checked.
func Restore(cmd *cobra.Command, cfg *config.Config, b *backup.Backup, report func(string), accept bool) error {
	ctx := cmd.Context()
	return installation.WithDatabase(ctx, cfg, installation.Access{Exclusive: true, Pool: 6}, func(in *installation.Installation) (err error) {
		if in.Blobs, err = blobs.Open(ctx, in.Config.BlobURL); err != nil {
			return err
		}
		in.Events, in.Accounts = eventstore.New(in.DB), accounts.New(in.DB, in.Clock.Now)
		target := backup.RestoreTarget{
			DB: in.DB, Database: database(in), Events: in.Events, Registry: usecase.Registry(), Blobs: in.Blobs, KeyFile: in.Config.SecretKeyFile,
			Migrate:  func(ctx context.Context) error { return postgres.Migrate(ctx, in.DB, in.Log) },
			Progress: report, AcceptFindings: accept, Accept: checkpoint.NewVerifier(in.DB, in.Log).Accept,
			Signed: func(ctx context.Context) ([]string, error) { return unsignedOf(ctx, in) }, GiveUp: func(ctx context.Context) ([]string, error) { return giveUp(ctx, in) },
			Revoke: in.Accounts.EndSessions,
			Record: func(ctx context.Context) error {
				return in.Accounts.RecordSystem(ctx, accounts.BackupRestored, b.MadeAt.Format(time.RFC3339))
			},
		}
		verified, err := target.Restore(ctx, b)
		if len(verified.Logs) > 0 {
			printRestored(cmd, b, verified)
		}
		if err == nil {
			fmt.Fprintln(cmd.OutOrStdout(), "restored: start 'muster serve' with the same settings. Everybody signs in again; tokens that were revoked "+
				"and members who were disabled since the backup are back. Do not let the old installation run on.")
		}
		return err
	})
}

// unsignedOf says what of restored logs does not fit what was signed of them, once the keys
// are there.
func unsignedOf(ctx context.Context, in *installation.Installation) (all []string, err error) {
	if in.Key, err = secrets.Load(in.Config.SecretKeyFile); err != nil {
		return nil, err
	}
	if in.Signing, err = signing.Open(ctx, in.DB, in.Key, nil, in.Config.DataDir); err != nil {
		return nil, err
	}
	in.Checkpoints = in.NewCheckpoints()
	for _, log := range eventstore.Logs {
		held, err := in.Checkpoints.Hold(ctx, log)
		if err != nil {
			return nil, err
		}
		for _, sentence := range held.Sentences {
			all = append(all, "log "+string(log)+": "+sentence)
		}
	}
	return all, nil
}

func giveUp(_ context.Context, in *installation.Installation) (all []string, err error) {
	for _, log := range eventstore.Logs {
		moved, err := in.Checkpoints.GiveUp(log)
		if all = append(all, moved...); err != nil {
			return all, err
		}
	}
	return all, nil
}

func printRestored(cmd *cobra.Command, b *backup.Backup, v backup.Verified) {
	out := cmd.OutOrStdout()
	fmt.Fprintf(out, "backup of %s, made by Muster %s\n", b.MadeAt.Format(time.RFC3339), b.Muster)
	for _, r := range v.Logs {
		command.PrintVerification(out, r)
	}
	if len(v.Findings) == 0 {
		fmt.Fprintf(out, "files: ok, %d of %d reports\n", v.Files, v.Reports)
	} else {
		fmt.Fprintf(out, "files: %d things do not fit in %d of %d reports\n", len(v.Findings), v.Files, v.Reports)
	}
	for _, a := range v.Absent {
		fmt.Fprintf(out, "not in the backup: %s (%s)\n", a.Name, a.Reason)
	}
	for _, finding := range append(v.Findings, v.Signed...) {
		fmt.Fprintf(out, "  %s\n", finding)
	}
	for _, path := range v.GivenUp {
		fmt.Fprintf(out, "given up: what was signed last is signed no more; it is kept as %s\n", path)
	}
}
