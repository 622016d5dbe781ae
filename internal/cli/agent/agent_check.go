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
	cmd := &cobra.Command{
		Use:   "check --config FILE [--report FILE] [--server URL] [--token-file FILE]",
		Short: "Try once how an agent would read each server",
		Long: `Connects to each server of the configuration, reads once what an agent reads again
and again, runs the checks, and says what works and which grants are missing. It
sends nothing, and writes nothing but the report.

With --server (or MUSTER_SERVER) it warns where the agent would send its token
unencrypted, and with --token-file it says whether others may read the token.

--report FILE writes what the developers of Muster need of a server that it has not
met live: versions, which query was answered with how many rows of which form, which
check came to what. No name, no text, no value and no address is in it; read it
before you pass it on.

Exit status: 0 each server can be measured and assessed, though some checks may lack a
grant; 1 one cannot; 2 the configuration is wrong.`,
		Example: `  muster agent check --config /etc/muster/agent.yaml
  muster agent check --config /etc/muster/agent.yaml --report muster-report.json`,
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
			o, err := agentOptions(config, wrong)
			if err != nil {
				return err
			}
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
				return &command.ExitError{Status: command.ExitFailed, Err: errors.New("not all of it works; see above")}
			}
			return nil
		},
	}
	cmd.Flags().StringVar(&config, "config", "", "says which servers are tried")
	cmd.Flags().StringVar(&report, "report", "", "a file for what came of it, without names")
	cmd.Flags().StringVar(&server, "server", "", "the Muster that the agent sends to (MUSTER_SERVER)")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "holds the ingest token")
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
		Long: `Prints a script for an administrator of the server: what an account needs so that
Muster, or its agent, can measure and assess it, and nothing beside.`,
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
	cmd.Flags().StringVar(&version, "version", "", "of the server (16, 2022, 19.24, azure); none: of all that are known")
	cmd.Flags().StringVar(&classify, "classify", assessment.ClassifyNames, "off, names or values: how personal data is looked for")
	command.Require(cmd, "engine")
	return cmd
}
