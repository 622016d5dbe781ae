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
	return command.Parent("agent", "Measure servers from beside them", agentRunCommand(), agentCheckCommand(), agentGrantsCommand())
}

func agentRunCommand() *cobra.Command {
	var server, tokenFile, config string
	cmd := &cobra.Command{
		Use:   "run --server URL --token-file FILE --config FILE",
		Short: "Measure and assess servers, and send the results",
		Long: `Measures and assesses the servers of the configuration and this machine, and sends
what it finds to the server: sessions, statements, host figures and assessments. What
cannot be sent is kept in the configuration's directory and sent when the server is
back. It needs neither a database nor any other setting.

The token is one for ingest (muster token create --kind ingest); its file is read at
each call. A file with a token or a password that others than its owner may read is
refused (chmod 600). docs/agent.md has the configuration.`,
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
	cmd.Flags().StringVar(&server, "server", "", "the Muster that what is found is sent to")
	cmd.Flags().StringVar(&tokenFile, "token-file", "", "holds the ingest token")
	cmd.Flags().StringVar(&config, "config", "", "says which servers are measured")
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
