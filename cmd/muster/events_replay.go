package main

import (
	"fmt"
	"io"
	"slices"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"muster/commands"
	"muster/domain/legible"
	"muster/domain/report"
	"muster/internal/config"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/history"
)

func eventsReplayCommand(cfg *config.Config) *cobra.Command {
	var asOf, kind, organizationName string
	cmd := &cobra.Command{
		Use:   "replay [--as-of TIME] [--kind KIND]",
		Short: "Fold the logs into the history listing and the three counts, as they were at a time",
		Long: `Reads the reports log from its first event and prints the history listing as the
log had recorded it before --as-of, and the fleet's log for how many instances,
databases and alerts (open and not muted) it knew of. It asks no projection, so it
also shows what a projection should say.

The counts are not the overview's "seven days ago". That takes what is known today
and asks when it was registered: what was imported since with times of then is in
it, and what was removed or muted since is not. Here it is the other way round.`,
		Example: `  muster events replay --as-of 2026-11-01T00:00:00Z --kind Security`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := replayed(asOf, report.Kind(kind))
			if err != nil {
				return err
			}
			if at.IsZero() {
				at = time.Now()
			}
			return withInstallation(cmd.Context(), cfg, func(in *installation) error {
				target, err := in.organizationNamed(cmd.Context(), organizationName)
				if err != nil {
					return err
				}
				rows, err := history.AsOf(cmd.Context(), in.events, commands.Registry().Decode, target.ID, report.Kind(kind), at)
				if err != nil {
					return err
				}
				instances, databases, err := fleet.AsOf(cmd.Context(), in.events, commands.Registry().Decode, target.ID, at)
				if err != nil {
					return err
				}
				open, err := alerts.OpenAsOf(cmd.Context(), in.events, target.ID, at)
				if err != nil {
					return err
				}
				if err := printHistory(cmd.OutOrStdout(), rows); err != nil {
					return err
				}
				w := tabwriter.NewWriter(cmd.OutOrStdout(), 0, 0, 2, ' ', 0)
				fmt.Fprintln(w, "\nINSTANCES\tDATABASES\tOPEN ALERTS, NOT MUTED")
				fmt.Fprintf(w, "%d\t%d\t%d\n", instances, databases, open)
				return w.Flush()
			})
		},
	}
	cmd.Flags().StringVar(&asOf, "as-of", "", "an RFC 3339 time; none: now")
	cmd.Flags().StringVar(&kind, "kind", "", "Security, InstanceScorecard or DataInventory; none: all")
	cmd.Flags().StringVar(&organizationName, "in", "", "the organization's name or id; needed where there are several")
	return cmd
}

// replayed reads what a replay is asked for.
func replayed(asOf string, kind report.Kind) (at time.Time, err error) {
	var wrong []string
	if at, err = optionalTime(asOf); err != nil {
		wrong = append(wrong, "--as-of: "+err.Error())
	}
	kinds := []report.Kind{report.Security, report.InstanceScorecard, report.DataInventory}
	if kind != "" && !slices.Contains(kinds, kind) {
		wrong = append(wrong, fmt.Sprintf("--kind: %q is none of %v", kind, kinds))
	}
	return at, usage(wrong)
}

func printHistory(out io.Writer, rows []history.ReportRow) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "CREATED\tREPORT\tKIND\tSTATUS\tSCOPE\tSHA-256 OR ERROR")
	for _, r := range rows {
		last := r.ErrorCode
		if r.File != nil {
			last = r.File.SHA256
		}
		fmt.Fprintf(w, "%s\t%s\t%s\t%s\t%s\t%s\n", r.CreatedAt.UTC().Format(time.RFC3339), r.ID, r.Kind, r.Status, legible.Clean(r.ScopeLabel), last)
	}
	return w.Flush()
}
