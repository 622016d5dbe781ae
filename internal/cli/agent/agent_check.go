package agent

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"muster/domain/fleet"
	"muster/domain/printable"
	"muster/internal/agent"
	"muster/internal/assessment"
	"muster/internal/cli/command"
	"muster/internal/engine/live"
)

func agentCheckCommand() *cobra.Command {
	var config, report, server, tokenFile string
	var rehearse time.Duration
	cmd := &cobra.Command{
		Use:   "check --config FILE [--for DURATION] [--report FILE] [--server URL] [--token-file FILE]",
		Short: "Measure and assess each server once, as an agent would, without sending",
		Long: `Connects to each server of the configuration, measures it once, runs the checks, and
prints what works and which grants are missing. The command sends nothing, and writes
no file except the report.

--for 3m measures each server for three minutes, one after another, by the loop that the
agent has, and prints how much it measured. Only this asks what changes between two looks.

With --server (or MUSTER_SERVER) it warns if the agent would send its token unencrypted.
With --token-file it says whether others may read the token.

--report FILE writes a report for the developers of Muster about servers of versions
that were not tested live: the versions, the number and form of the rows that each query
returned, and the result of each check. It contains no name, text, value or address.
Read the report before you pass it on.

Exit status:

  0  each server can be measured and assessed; some checks may lack a grant
  1  at least one server cannot be measured or assessed
  2  the configuration is wrong`,
		Example: `  muster agent check --config /etc/muster/agent.yaml
  muster agent check --config /etc/muster/agent.yaml --for 3m --report muster-report.json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var wrong []string
			if server == "" {
				server = os.Getenv("MUSTER_SERVER")
			}
			warning := ""
			if server != "" {
				if u, err := serverURL(server); err != nil {
					wrong = append(wrong, err.Error())
				} else {
					warning = agent.Clear(u)
				}
			}
			if tokenFile != "" {
				if _, err := agent.ReadToken(tokenFile); err != nil {
					wrong = append(wrong, "--token-file: "+err.Error())
				}
			}
			if rehearse < 0 {
				wrong = append(wrong, "--for: must not be negative")
			}
			o, err := agentOptions(config, wrong)
			if err != nil {
				return err
			}
			o.Rehearse = rehearse
			if warning != "" {
				fmt.Fprintf(cmd.OutOrStdout(), "warning: %s\n", warning)
			}
			works := true
			shown := agent.Check(cmd.Context(), o, func(c agent.Checked) {
				works = works && c.OK()
				sayChecked(cmd.OutOrStdout(), c)
			})
			if report != "" {
				text, err := json.MarshalIndent(shown, "", "  ")
				if err == nil {
					err = os.WriteFile(report, append(text, '\n'), 0o600)
				}
				if err != nil {
					return fmt.Errorf("write the report: %w", err)
				}
			}
			if !works {
				return &command.ExitError{Status: command.ExitFailed, Err: errors.New("at least one part fails; see above")}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "the configuration file, with the servers")
	cmd.Flags().DurationVar(&rehearse, "for", 0, "measure each server for this long, as the agent does")
	cmd.Flags().StringVar(&report, "report", "", "write the results, without names, to this file")
	cmd.Flags().StringVar(&server, "server", "", "the URL of the Muster server (MUSTER_SERVER)")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "the file with the ingest token")
	command.Require(cmd, "config")
	return cmd
}

// sayChecked prints what came of a server.
func sayChecked(w io.Writer, c agent.Checked) {
	fmt.Fprintf(w, "%s  %s  %s\n", printable.Clean(c.Server.Name), c.Server.Engine, printable.Clean(c.Target))
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, p := range c.Parts {
		mark := "ok"
		if !p.OK {
			mark = "FAILS"
		}
		fmt.Fprintf(t, "  %s\t%s\t%s\n", mark, p.Name, printable.Clean(p.Detail))
	}
	_ = t.Flush()
	for _, g := range c.Missing {
		fmt.Fprintf(w, "  missing: %s\n", printable.Clean(g.Object))
		for line := range strings.SplitSeq(strings.TrimSpace(g.Statement), "\n") {
			if line != "" {
				fmt.Fprintf(w, "    %s\n", printable.Clean(line))
			}
		}
	}
}

func agentGrantsCommand() *cobra.Command {
	var engine, version, classify string
	names := live.Names()
	last := len(names) - 1
	cmd := &cobra.Command{
		Use:   "grants --engine " + strings.Join(names, "|") + " [--version V] [--classify off|names|values]",
		Short: "Print the grants that Muster's account needs on a server",
		Long: `Prints a script for an administrator of the server. It gives an account the rights that
Muster or its agent needs to measure and assess the server, and no others.`,
		Example: `  muster agent grants --engine postgresql --version 16 | psql -h db01 -U postgres
  muster agent grants --engine sqlserver --version 2022
  muster agent grants --engine oracle`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if !slices.Contains([]string{assessment.ClassifyOff, assessment.ClassifyNames, assessment.ClassifyValues}, classify) {
				return command.Usage([]string{fmt.Sprintf("--classify is %q, and none of off, names, values", classify)})
			}
			script, err := live.Grants(fleet.Engine(engine), version, classify)
			if err != nil {
				return command.Usage([]string{err.Error()})
			}
			return command.Say(cmd, "%s", script)
		},
	}
	cmd.Flags().StringVar(&engine, "engine", "", strings.Join(names[:last], ", ")+" or "+names[last])
	cmd.Flags().StringVar(&version, "version", "", "the version of the server (16, 2022, 19.24, azure, rds); default: all known versions")
	cmd.Flags().StringVar(&classify, "classify", assessment.ClassifyNames, "how Muster searches for personal data: off, names or values")
	command.Require(cmd, "engine")
	return cmd
}
