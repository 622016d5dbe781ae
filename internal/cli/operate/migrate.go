package operate

import (
	"errors"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/postgres"
)

// MigrateCommand returns the command migrate.
func MigrateCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("migrate", "The database schema: up, finish, status", migrateUpCommand(cfg), migrateFinishCommand(cfg), migrateStatusCommand(cfg))
}

func migrateUpCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "up",
		Short: "Bring the schema up to date; serve does this when it starts",
		Long: `Applies all due migrations, except a second step at the end, which 'muster migrate
finish' takes. Until then, programs of the previous version may run, too.`,
		Args: cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			waiting, err := waitingMigrations(in, cmd)
			if err != nil {
				return err
			}
			if err := command.Say(cmd, "the schema is up to date\n"); err != nil || len(waiting) == 0 {
				return err
			}
			return command.Say(cmd, "%d left to 'muster migrate finish'; until then, programs of the previous version may run, too\n", len(waiting))
		}),
	}
}

func migrateFinishCommand(cfg *config.Config) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "finish --yes",
		Short: "Take the second step of an upgrade, after all older programs have stopped",
		Long: `Applies the migrations that remove what only the previous version needs. The command
refuses while a program of that version is connected to the database, and afterwards
such a program does not start. From then on, the only way back is the backup from
before the upgrade.

Without --yes the command lists these migrations, does nothing and ends with status 2.`,
		Example: `  muster migrate finish --yes`,
		Args:    cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			waiting, err := waitingMigrations(in, cmd)
			if err != nil {
				return err
			}
			if len(waiting) == 0 {
				return command.Say(cmd, "nothing is left to finish\n")
			}
			if !yes {
				for _, m := range waiting {
					if err := command.Say(cmd, "%s waits\n", m.File); err != nil {
						return err
					}
				}
				return &command.ExitError{Status: command.ExitUsage, Err: errors.New("nothing was done; --yes takes the second step, after which programs of the previous version can no longer run")}
			}
			if err := postgres.Finish(cmd.Context(), in.DB, in.Log); err != nil {
				return err
			}
			return command.Say(cmd, "finished: programs of the previous version can no longer run\n")
		}),
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "take the second step; without this flag, only list its migrations")
	return cmd
}

// waitingMigrations are those that are left to finish, in order.
func waitingMigrations(in *installation.Installation, cmd *cobra.Command) (waiting []postgres.Migration, err error) {
	all, err := postgres.MigrationStatus(cmd.Context(), in.DB)
	for _, m := range all {
		if m.Waits() {
			waiting = append(waiting, m)
		}
	}
	return waiting, err
}

func migrateStatusCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "status",
		Short: "List the migrations and when each was applied; changes nothing",
		Long: `Lists the migrations that this program knows, the time at which each was applied, or
'pending', and its kind. The kind says whether programs of the previous version may run
after it:

  expand     they may run
  alone      they may not run
  contract   they may not run; 'muster migrate finish' applies it`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return installation.WithDatabase(cmd.Context(), cfg, installation.Access{Pool: 2}, func(in *installation.Installation) error {
				migrations, err := postgres.MigrationStatus(cmd.Context(), in.DB)
				if err != nil {
					return err
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				for _, m := range migrations {
					applied := "pending"
					if m.AppliedAt != nil {
						applied = m.AppliedAt.UTC().Format("2006-01-02 15:04:05Z")
					}
					fmt.Fprintf(w, "%d\t%s\t%s\t%s\n", m.Version, m.File, applied, m.Step)
				}
				return w.Flush()
			})
		},
	}
}
