package agent

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"time"

	"github.com/spf13/cobra"

	"muster/internal/agent"
	"muster/internal/cli/command"
	"muster/internal/engine/live"
)

// MeasuredEngines are those that an agent measures; a test has them measured more often.
var MeasuredEngines = live.Measured

// Command returns the command agent.
func Command() *cobra.Command {
	return command.Parent("agent", "Measure servers from a machine near them", agentRunCommand(), agentCheckCommand(), agentGrantsCommand())
}

func agentRunCommand() *cobra.Command {
	var server, tokenFile, config string
	cmd := &cobra.Command{
		Use:   "run --server URL --token-file FILE --config FILE",
		Short: "Measure and assess servers, and send the results",
		Long: `Measures this machine, and measures and assesses the servers of the configuration. The
agent sends sessions, statements, host figures and assessments to Muster. While Muster
cannot be reached, the agent keeps this data in the configuration's directory, and sends
it later. The agent needs no database and no other settings.

The token is an ingest token (muster token create --kind ingest). The agent reads its
file at each call. It refuses a file with a token or a password if anyone except its
owner may read it (chmod 600). docs/agent.md describes the configuration.`,
		Example: `  muster agent run --server https://muster.example.org --token-file /etc/muster/agent.token --config /etc/muster/agent.yaml`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var wrong []string
			u, err := serverURL(server)
			if err != nil {
				wrong = append(wrong, err.Error())
			}
			if _, err := agent.ReadToken(tokenFile); err != nil {
				wrong = append(wrong, "--token-file: "+err.Error())
			}
			o, err := agentOptions(config, wrong)
			if err != nil {
				return err
			}
			if warning := agent.Clear(u); warning != "" {
				o.Log.WarnContext(cmd.Context(), warning)
			}
			o.Server, o.TokenFile = u, tokenFile
			return runAgent(cmd.Context(), o)
		},
	}
	cmd.Flags().StringVar(&server, "server", "", "the URL of the Muster server")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "the file with the ingest token")
	cmd.Flags().StringVar(&config, "config", "", "the configuration file, with the servers")
	command.Require(cmd, "server", "token-file", "config")
	return cmd
}

func serverURL(text string) (*url.URL, error) {
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, errors.New("--server: not a URL like https://muster.example.org")
	}
	return u, nil
}

// agentOptions reads the configuration; with what is wrong beside, all that is wrong with it
// is in one error.
func agentOptions(path string, wrong []string) (agent.Options, error) {
	config, err := agent.ReadConfig(path, os.LookupEnv)
	var faulty *agent.ConfigError
	switch {
	case errors.As(err, &faulty):
		for _, fault := range faulty.Faults {
			wrong = append(wrong, path+": "+fault)
		}
	case err != nil:
		wrong = append(wrong, err.Error())
	}
	if err := command.Usage(wrong); err != nil {
		return agent.Options{}, err
	}
	all, err := live.Inspectors(time.Now)
	if err != nil {
		return agent.Options{}, err
	}
	return agent.Options{
		Config: config, Version: command.Version(), Engines: MeasuredEngines, Inspectors: all, Log: slog.New(slog.NewTextHandler(os.Stderr, nil)),
	}, nil
}

func runAgent(ctx context.Context, o agent.Options) error {
	a, err := agent.Open(o)
	var used *agent.InUseError
	if errors.As(err, &used) {
		return &command.ExitError{Status: command.ExitUsage, Err: err}
	}
	if err != nil {
		return err
	}
	o.Log.InfoContext(ctx, "the agent measures", "servers", len(o.Config.Servers), "directory", o.Config.Directory, "server", o.Server.Redacted())
	err = a.Run(ctx)
	if closeErr := a.Close(); closeErr != nil {
		err = errors.Join(err, fmt.Errorf("close the agent's buffer: %w", closeErr))
	}
	return err
}
