package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/spf13/cobra"

	"muster/commands"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/concurrency/pause"
	"muster/internal/config"
	"muster/internal/files/blobs"
	"muster/internal/operate/backup"
	"muster/internal/postgres"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
)

func backupCommand(cfg *config.Config) *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use:   "backup DIR",
		Short: "Copy database, files and keys into a new directory, while serve runs or not",
		Long: `Makes a backup in DIR, which must be empty or absent:

  database.dump   what one moment's snapshot of the database shows (pg_dump)
  blobs/          every PDF and inputs document that the log names at that moment
  secret.key      the secret keys, without which connection strings stay sealed
  manifest.json   what there is, with digests and the signed heads of the logs;
                  written last: without it, it is no backup

The logs are verified up to the heads that are signed. Keep it as safe as the
installation itself: it holds the keys. A failed backup is removed; of one that was
killed manifest.json.part stays. pg_dump of the server's major version, or of a
newer one, has to be installed here. The logs' heads that it prints are witnesses:
keep them elsewhere.`,
		Example: "  muster backup /backups/muster-$(date +%F)",
		Args:    cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return withFiles(cmd.Context(), cfg, func(in *installation) error {
				report, stop := progress(cmd.ErrOrStderr())
				made, err := in.backupSource(report, accept).Make(cmd.Context(), args[0])
				stop()
				if err != nil {
					return err
				}
				return printBackup(cmd, args[0], made)
			})
		},
	}
	cmd.Flags().BoolVar(&accept, "accept-findings", false, "make it although events do not fit, or files are missing or damaged or cannot be told, and note which")
	return cmd
}

func (in *installation) backupSource(report func(string), accept bool) *backup.Source {
	return &backup.Source{
		DB: in.db, Database: in.database(), Events: in.events, Registry: commands.Registry(), Blobs: in.blobs, Keys: in.key,
		Sealed: in.facts.Sealed, Version: buildVersion(), Now: in.clock.Now, Progress: report, AcceptFindings: accept,
		Accepted: checkpoint.NewVerifier(in.db, in.log).Accepted,
		Record: func(ctx context.Context, made backup.Manifest) error {
			return in.accounts.RecordSystem(ctx, accounts.BackupMade, made.MadeAt.Format(time.RFC3339))
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
func (in *installation) database() postgres.DumpDatabase {
	return postgres.DumpDatabase{URL: in.url, Private: in.server != nil}
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

func restoreCommand(cfg *config.Config) *cobra.Command {
	var accept bool
	cmd := &cobra.Command{
		Use:   "restore DIR",
		Short: "Load a backup into an empty installation, and verify all of it",
		Long: `Loads what 'muster backup' has made into an installation that does not exist yet:
a data directory without a database, or a --database-url whose database is empty;
an empty blob store; no secret key file, or the same one.

First the backup is held against its manifest, then everything is loaded, and
then the logs are verified against the heads that were signed when the backup was
made, and every file against the log. Until that is done, nothing else opens the
installation. If it is cut off, run it again: it goes on where it stopped.

The state is that of the backup. Everybody has to sign in again, but tokens that
were revoked and members who were disabled since are back: look through them.
Do not let the old installation run on beside this one.`,
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
			return restore(cmd, cfg, b, report, accept)
		},
	}
	cmd.Flags().BoolVar(&accept, "accept-findings", false, "finish although logs or files do not fit, and say what does not")
	return cmd
}

// restore opens what is to become the installation, and nothing of it before the
// backup was checked.
func restore(cmd *cobra.Command, cfg *config.Config, b *backup.Backup, report func(string), accept bool) error {
	ctx := cmd.Context()
	return withDatabase(ctx, cfg, access{exclusive: true, pool: 6}, func(in *installation) (err error) {
		if in.blobs, err = blobs.Open(ctx, in.cfg.BlobURL); err != nil {
			return err
		}
		in.events, in.accounts = eventstore.New(in.db), accounts.New(in.db, in.clock.Now)
		target := backup.RestoreTarget{
			DB: in.db, Database: in.database(), Events: in.events, Registry: commands.Registry(), Blobs: in.blobs, KeyFile: in.cfg.SecretKeyFile,
			Migrate:  func(ctx context.Context) error { return postgres.Migrate(ctx, in.db, in.log) },
			Progress: report, AcceptFindings: accept, Accept: checkpoint.NewVerifier(in.db, in.log).Accept,
			Signed: in.unsignedOf, GiveUp: in.giveUp,
			Revoke: in.accounts.EndSessions,
			Record: func(ctx context.Context) error {
				return in.accounts.RecordSystem(ctx, accounts.BackupRestored, b.MadeAt.Format(time.RFC3339))
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
func (in *installation) unsignedOf(ctx context.Context) (all []string, err error) {
	if in.key, err = secrets.Load(in.cfg.SecretKeyFile); err != nil {
		return nil, err
	}
	if in.signing, err = signing.Open(ctx, in.db, in.key, nil, in.cfg.DataDir); err != nil {
		return nil, err
	}
	in.checkpoints = in.newCheckpoints()
	for _, log := range eventstore.Logs {
		held, err := in.checkpoints.Hold(ctx, log)
		if err != nil {
			return nil, err
		}
		for _, sentence := range held.Sentences {
			all = append(all, "log "+string(log)+": "+sentence)
		}
	}
	return all, nil
}

func (in *installation) giveUp(context.Context) (all []string, err error) {
	for _, log := range eventstore.Logs {
		moved, err := in.checkpoints.GiveUp(log)
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
		printVerification(out, r)
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
