package operate

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"muster/domain/printable"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/projections"
)

// ProjectionsCommand returns the command projections.
func ProjectionsCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("projections", "Read models: list, rebuild, diff",
		projectionsListCommand(cfg), projectionsRebuildCommand(cfg), projectionsDiffCommand(cfg))
}

func projectionsListCommand(cfg *config.Config) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "list",
		Short: "Show position, lag and status of every projection and of the notification handler",
		Args:  cobra.NoArgs,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			statuses, err := in.Runner.Statuses(cmd.Context())
			if err != nil {
				return err
			}
			handlers, err := in.Runner.Handlers(cmd.Context())
			if err != nil {
				return err
			}
			statuses = append(statuses, handlers...)
			if asJSON {
				return command.PrintJSON(cmd, map[string]any{"projections": statusesJSON(statuses)})
			}
			w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
			fmt.Fprintln(w, "NAME\tSTATUS\tPOSITION\tHEAD\tLAG\tPARKED\tLAST ERROR")
			for _, s := range statuses {
				fmt.Fprintf(w, "%s\t%s\t%d\t%d\t%d events, %.1f s\t%d\t%s\n",
					s.Name, s.Status, s.Position, s.HeadPosition, s.LagEvents, s.LagSeconds, s.Parked, s.LastError)
			}
			return w.Flush()
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	return cmd
}

func statusesJSON(statuses []projections.Status) []any {
	all := make([]any, len(statuses))
	for i, s := range statuses {
		all[i] = map[string]any{
			"name": s.Name, "status": s.Status, "position": s.Position, "head": s.HeadPosition,
			"lagEvents": s.LagEvents, "aheadEvents": s.AheadEvents, "lagSeconds": s.LagSeconds, "parked": s.Parked, "lastError": s.LastError,
		}
	}
	return all
}

func projectionsRebuildCommand(cfg *config.Config) *cobra.Command {
	var options projections.RebuildOptions
	cmd := &cobra.Command{
		Use:   "rebuild NAME",
		Short: "Rebuild a projection next to the live one, compare, and switch",
		Long: `Fills new tables from the first event while the old tables keep serving, prints the
differences, and switches. NAME is report_history, audit, fleet, alerts, exceptions or
health. A difference prevents the switch only with --stop-on-difference. The old tables
stay for an hour. If the command is interrupted, run it again, and it joins the rebuild
in progress.`,
		Example: `  muster projections rebuild report_history
  muster projections rebuild fleet --stop-on-difference`,
		Args: aProjection,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, args []string, in *installation.Installation) error {
			if err := in.Accounts.RecordSystem(cmd.Context(), accounts.RebuildRequested, "projection "+args[0]); err != nil {
				return err
			}
			difference, err := in.Runner.Rebuild(cmd.Context(), args[0], options, func(p projections.RebuildProgress) {
				fmt.Fprintf(cmd.ErrOrStderr(), "\r%s: %d of %d events", p.State, p.Position, p.Target) // one line over and over
			})
			fmt.Fprintln(cmd.ErrOrStderr())
			var stopped *projections.StoppedError
			if errors.As(err, &stopped) {
				printDifference(cmd.OutOrStdout(), stopped.Difference)
			}
			if err != nil {
				return err
			}
			printDifference(cmd.OutOrStdout(), difference)
			return command.Say(cmd, "%s is rebuilt and live\n", args[0])
		}),
	}
	cmd.Flags().BoolVar(&options.StopOnDifference, "stop-on-difference", false, "keep the old tables if the new ones differ")
	return cmd
}

// aProjection is the argument of a command on one projection.
func aProjection(cmd *cobra.Command, args []string) error {
	if err := cobra.ExactArgs(1)(cmd, args); err != nil {
		return err
	}
	var names []string
	for _, p := range installation.ReadModels() {
		names = append(names, p.Name)
	}
	if !slices.Contains(names, args[0]) {
		return fmt.Errorf("no projection is called %q, only %s", args[0], strings.Join(names, ", "))
	}
	return nil
}

func projectionsDiffCommand(cfg *config.Config) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "diff NAME",
		Short: "Show the differences between the last rebuild and the previous tables",
		Args:  aProjection,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, args []string, in *installation.Installation) error {
			difference, ok, err := in.Runner.Diff(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if !ok {
				return fmt.Errorf("%s has not been rebuilt yet", args[0])
			}
			if asJSON {
				return command.PrintJSON(cmd, differenceJSON(difference))
			}
			printDifference(cmd.OutOrStdout(), difference)
			return nil
		}),
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print one JSON object (docs/auditors.md)")
	return cmd
}

func differenceJSON(d projections.Difference) any {
	tables := make([]any, len(d.Tables))
	for i, t := range d.Tables {
		samples := make([]any, len(t.Samples))
		for j, s := range t.Samples {
			samples[j] = map[string]any{"old": string(s.Old), "new": string(s.New)}
		}
		tables[i] = map[string]any{"table": t.Table, "onlyOld": t.OnlyOld, "onlyNew": t.OnlyNew, "different": t.Different, "samples": samples}
	}
	return map[string]any{"empty": d.Empty(), "tables": tables}
}

func printDifference(w io.Writer, d projections.Difference) {
	if d.Empty() {
		fmt.Fprintln(w, "no difference")
		return
	}
	for _, t := range d.Tables {
		fmt.Fprintf(w, "%s: %d rows only in the old, %d only in the new, %d different\n", t.Table, t.OnlyOld, t.OnlyNew, t.Different)
		for _, s := range t.Samples {
			fmt.Fprintf(w, "  old %s\n  new %s\n", printable.Clean(cmp.Or(string(s.Old), "–")), printable.Clean(cmp.Or(string(s.New), "–")))
		}
	}
}
