package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"muster/internal/config"
	"muster/internal/postgres"
)

func migrateCommand(cfg *config.Config) *cobra.Command {
	up := &cobra.Command{
		Use:   "up",
		Short: "Bring the schema up to date; serve does so by itself at start",
		Args:  cobra.NoArgs,
		RunE: opened(cfg, func(cmd *cobra.Command, _ []string, _ *installation) error {
			return say(cmd, "the schema is up to date\n")
		}),
	}
	status := &cobra.Command{
		Use:   "status",
		Short: "List the migrations and when each was applied; changes nothing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withDatabase(cmd.Context(), cfg, access{pool: 2}, func(in *installation) error {
				migrations, err := postgres.MigrationStatus(cmd.Context(), in.db)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, m := range migrations {
					applied := "pending"
					if m.AppliedAt != nil {
						applied = m.AppliedAt.UTC().Format("2006-01-02 15:04:05Z")
					}
					fmt.Fprintf(w, "%d\t%s\t%s\n", m.Version, m.File, applied)
				}
				return w.Flush()
			})
		},
	}
	return parent("migrate", "The database schema", up, status)
}
