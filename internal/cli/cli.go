package cli

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // for drivers that read local times of servers, where the machine has no zones

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	agentcli "muster/internal/cli/agent"
	"muster/internal/cli/command"
	"muster/internal/cli/operate"
	"muster/internal/cli/prove"
	"muster/internal/cli/serve"
	"muster/internal/config"
)

// Main runs the command line of this process as the program of a version and a commit, and
// ends the process with the exit status.
func Main(ofVersion, ofCommit string) {
	command.Build(ofVersion, ofCommit)
	// Whoever reads our output may go, as head does. That is an error of a write
	// then, and not our death, which would leave the private server behind.
	signal.Ignore(syscall.SIGPIPE)
	if status, is := asService(); is {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := Run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// Run executes one command line and returns the exit status.
func Run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	// Until a command's own code runs, whatever fails is the usage.
	started := false
	root := Root(&started)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var exit *command.ExitError
	if errors.As(err, &exit) {
		if exit.Err != nil {
			command.PrintError(stderr, exit.Err)
		}
		return exit.Status
	}
	if command.Unread(err) {
		return command.ExitFailed
	}
	command.PrintError(stderr, err)
	if !started {
		fmt.Fprintln(stderr, "muster: 'muster --help' shows how it is called.")
		return command.ExitUsage
	}
	return command.ExitFailed
}

// Root returns the command muster.
func Root(started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "muster",
		Short: "Monitor and assess an organization's database servers",
		Long: `Muster watches the database servers of an organization and builds reports about
them that can be proven afterwards.

  muster serve --demo      a demo organization with data on http://127.0.0.1:8080
  muster serve             your own installation; the first start prints a link to set it up

Every flag has an environment variable (--public-url is MUSTER_PUBLIC_URL); the
flag takes precedence. Without --database-url Muster runs a private PostgreSQL under
--data-dir, and every subcommand finds it there.`,
		SilenceUsage:          true,
		SilenceErrors:         true,
		DisableFlagsInUseLine: true, // it is called with a command
	}
	sayVersion := root.Flags().BoolP("version", "v", false, "version for muster")
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { // where no command is named
		if *sayVersion {
			fmt.Fprintln(cmd.OutOrStdout(), command.BuildVersion())
			return
		}
		help(cmd, args)
	})
	root.SetUsageFunc(settingsInShort(root.UsageFunc()))
	cfg := config.Bind(root.PersistentFlags())
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		// cobra looks for missing flags only after this.
		if err := errors.Join(cmd.ValidateRequiredFlags(), refuseEmpty(cmd, args), cfg.Validate()); err != nil {
			return err
		}
		*started = true
		return nil
	}
	root.AddCommand(
		serve.Command(cfg),
		operate.MigrateCommand(cfg),
		operate.OrganizationCommand(cfg), operate.MeasurementsCommand(cfg),
		operate.AdminCommand(cfg),
		operate.SetupLinkCommand(cfg),
		operate.TokenCommand(cfg),
		operate.ProjectionsCommand(cfg),
		prove.EventsCommand(cfg),
		prove.ReportsCommand(cfg),
		prove.WithPage(prove.VerifyCommand(cfg)),
		prove.EvidenceCommand(cfg),
		agentcli.Command(),
		operate.DeadCommand(cfg),
		prove.KeysCommand(cfg),
		prove.TrustCommand(cfg),
		operate.BackupCommand(cfg),
		operate.RestoreCommand(cfg),
		operate.FeedCommand(cfg),
		operate.FleetCommand(cfg),
	)
	return root
}

// MayBeEmpty are the flags of which an empty value says something, and what.
var MayBeEmpty = map[string]string{
	"cors-origins":    "no page of another site, whatever MUSTER_CORS_ORIGINS says",
	"trusted-proxies": "Muster trusts no proxy, whatever MUSTER_TRUSTED_PROXIES says",
}

// refuseEmpty refuses flags and arguments that are given and empty, as "$FILE" of a shell is
// whose variable is not set: a witness, a key or a database would silently be none.
func refuseEmpty(cmd *cobra.Command, args []string) error {
	var wrong []string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		list, isList := f.Value.(pflag.SliceValue)
		empty := strings.TrimSpace(f.Value.String()) == ""
		if isList {
			empty = !slices.ContainsFunc(list.GetSlice(), func(v string) bool { return strings.TrimSpace(v) != "" })
		}
		if empty && MayBeEmpty[f.Name] == "" {
			wrong = append(wrong, "--"+f.Name+" is empty: give it a value, or leave it out")
		}
	})
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" {
			wrong = append(wrong, fmt.Sprintf("argument %d is empty (%s)", i+1, cmd.UseLine()))
		}
	}
	return command.Usage(wrong)
}

// settingsInShort is cobra's usage without the settings: they are flags of every
// command and would bury each one's own. Only serve, which needs them all, and muster
// itself list them. (cobra's templates could say it, too; but with text/template the
// linker keeps every method of every type, which is a third of the program.)
func settingsInShort(usage func(*cobra.Command) error) func(*cobra.Command) error {
	return func(cmd *cobra.Command) error {
		if cmd.Name() == "serve" || !cmd.HasParent() {
			return usage(cmd)
		}
		out := cmd.OutOrStderr()
		var whole bytes.Buffer
		cmd.SetOut(&whole)
		defer cmd.SetOut(nil)
		if err := usage(cmd); err != nil {
			return err
		}
		all := strings.TrimRight(cmd.InheritedFlags().FlagUsages(), " \n")
		_, err := io.WriteString(out, strings.Replace(whole.String(), all,
			"  --data-dir, --database-url and the others that 'muster serve --help' lists", 1))
		return err
	}
}
