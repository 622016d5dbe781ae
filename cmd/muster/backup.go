package main

import (
	"context"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"io"
	"sync/atomic"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/backup"
	"muster/internal/config"
	"muster/internal/pause"
	"muster/internal/postgres"
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

Keep it as safe as the installation itself: it holds the keys. A failed backup is
removed; of one that was killed manifest.json.part stays. pg_dump of the server's
major version, or of a newer one, has to be installed here. The logs' heads that
it prints are witnesses: keep them elsewhere.`,
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
	cmd.Flags().BoolVar(&accept, "accept-findings", false, "make it although files are missing or damaged or cannot be told, and note which")
	return cmd
}

func (in *installation) backupSource(report func(string), accept bool) *backup.Source {
	return &backup.Source{
		DB: in.db, Database: in.database(), Events: in.events, Registry: commands.Registry(), Blobs: in.blobs, Keys: in.key,
		Sealed: in.facts.Sealed, Version: buildVersion(), Now: time.Now, Progress: report, AcceptFindings: accept,
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
