package main

import (
	"fmt"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/assessment/feed"
)

func feedCommand() *cobra.Command {
	return parent("feed", "What is known of releases and their vulnerabilities", &cobra.Command{
		Use:   "show",
		Short: "Each major with its end of life, its latest release and how many CVEs are known",
		Long: `Prints the tables that this program was built with: reports and checks judge
versions by them. It asks nothing and needs no database. What the tables do not know
stands below them.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			known, err := feed.Load()
			if err != nil {
				return err
			}
			out, id := cmd.OutOrStdout(), known.Identity()
			if _, err := fmt.Fprintf(out, "%s, compared with its sources on %s\nSHA-256 %s\n\n", id.Name, id.Date.Format(time.DateOnly), id.Digest); err != nil {
				return err
			}
			table := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
			fmt.Fprintln(table, "ENGINE\tMAJOR\tEND OF LIFE\tLATEST\tOF\tCVES")
			for _, e := range known.Entries() {
				latest, cves := e.Latest, "not known"
				if latest == "" {
					latest = "not known"
				}
				of := "not known"
				if !e.LatestAt.IsZero() {
					of = e.LatestAt.Format(time.DateOnly)
				}
				if e.CVEsKnown && (e.CVEs > 0 || e.Whole) {
					cves = fmt.Sprint(e.CVEs)
				}
				fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", e.Engine, e.Major, e.EndOfLife.Format(time.DateOnly), latest, of, cves)
			}
			if err := table.Flush(); err != nil {
				return err
			}
			for _, gap := range known.Gaps() {
				if _, err := fmt.Fprintln(out, "\n"+gap); err != nil {
					return err
				}
			}
			return nil
		},
	})
}
