package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"muster/commands"
	"muster/eventstore"
	"muster/internal/accounts"
	"muster/internal/backup"
	"muster/internal/blobs"
	"muster/internal/config"
	"muster/internal/postgres"
)

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
		in.events, in.accounts = eventstore.New(in.db), accounts.New(in.db, time.Now)
		target := backup.RestoreTarget{
			DB: in.db, Database: in.database(), Events: in.events, Registry: commands.Registry(), Blobs: in.blobs, KeyFile: in.cfg.SecretKeyFile,
			Migrate:  func(ctx context.Context) error { return postgres.Migrate(ctx, in.db, in.log) },
			Progress: report, AcceptFindings: accept,
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
	for _, finding := range v.Findings {
		fmt.Fprintf(out, "  %s\n", finding)
	}
}
