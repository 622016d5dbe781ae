package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/signal"
	"runtime/debug"
	"slices"
	"strings"
	"syscall"
	_ "time/tzdata" // for drivers that read local times of servers, where the machine has no zones

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"muster/domain/printable"
	"muster/internal/config"
)

// version and commit are set by the Makefile; a plain go build takes the commit
// from the stamp of the Go tool, where there is one.
var (
	version = "dev"
	commit  = ""
)

// Exit statuses besides 0.
const (
	exitFailed = 1
	exitUsage  = 2
)

// exitError ends the program with a status of its own.
type exitError struct {
	status int
	err    error // nil: everything was said on standard output
}

func (e *exitError) Error() string {
	if e.err == nil {
		return fmt.Sprintf("exit status %d", e.status)
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

func main() {
	// Whoever reads our output may go, as head does. That is an error of a write
	// then, and not our death, which would leave the private server behind.
	signal.Ignore(syscall.SIGPIPE)
	if status, is := asService(); is {
		os.Exit(status)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	status := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(status)
}

// run executes one command line and returns the exit status.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	// Until a command's own code runs, whatever fails is the usage.
	started := false
	root := newRoot(&started)
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var exit *exitError
	if errors.As(err, &exit) {
		if exit.err != nil {
			printError(stderr, exit.err)
		}
		return exit.status
	}
	if unread(err) {
		return exitFailed
	}
	printError(stderr, err)
	if !started {
		fmt.Fprintln(stderr, "muster: 'muster --help' shows how it is called.")
		return exitUsage
	}
	return exitFailed
}

// unread says that a command ended because nobody reads its output any more.
func unread(err error) bool {
	var write *fs.PathError
	return errors.As(err, &write) && write.Path == os.Stdout.Name() && errors.Is(write, syscall.EPIPE)
}

// printError prints one line, whatever the error holds.
func printError(w io.Writer, err error) {
	fmt.Fprintln(w, "muster: "+printable.Clean(strings.Join(strings.Fields(err.Error()), " ")))
}

func newRoot(started *bool) *cobra.Command {
	root := &cobra.Command{
		Use:   "muster",
		Short: "The roll call of an organization's database servers",
		Long: `Muster watches the database servers of an organization and builds reports about
them that can be proven afterwards.

  muster serve --demo      a filled demo organization on http://127.0.0.1:8080
  muster serve             your own; the first start prints a link to set it up

Every flag has an environment variable (--public-url is MUSTER_PUBLIC_URL); the
flag wins. Without --database-url Muster runs a private PostgreSQL under
--data-dir, and every subcommand finds it there.`,
		SilenceUsage:          true,
		SilenceErrors:         true,
		DisableFlagsInUseLine: true, // it is called with a command
	}
	sayVersion := root.Flags().BoolP("version", "v", false, "version for muster")
	help := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) { // where no command is named
		if *sayVersion {
			fmt.Fprintln(cmd.OutOrStdout(), buildVersion())
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
		serveCommand(cfg),
		migrateCommand(cfg),
		organizationCommand(cfg), measurementsCommand(cfg),
		adminCommand(cfg),
		setupLinkCommand(cfg),
		tokenCommand(cfg),
		projectionsCommand(cfg),
		eventsCommand(cfg),
		reportsCommand(cfg),
		withPage(verifyCommand(cfg)),
		evidenceCommand(cfg),
		agentCommand(),
		deadCommand(cfg),
		keysCommand(cfg),
		trustCommand(cfg),
		backupCommand(cfg),
		restoreCommand(cfg),
		feedCommand(cfg),
		fleetCommand(cfg),
	)
	return root
}

// mayBeEmpty are the flags of which an empty value says something, and what.
var mayBeEmpty = map[string]string{
	"cors-origins":    "no page of another site, whatever MUSTER_CORS_ORIGINS says",
	"trusted-proxies": "no proxy is believed, whatever MUSTER_TRUSTED_PROXIES says",
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
		if empty && mayBeEmpty[f.Name] == "" {
			wrong = append(wrong, "--"+f.Name+" is empty: give it a value, or leave it out")
		}
	})
	for i, arg := range args {
		if strings.TrimSpace(arg) == "" {
			wrong = append(wrong, fmt.Sprintf("argument %d is empty (%s)", i+1, cmd.UseLine()))
		}
	}
	return usage(wrong)
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

// buildVersion is the version with the commit.
func buildVersion() string {
	if c := buildCommit(); c != "" {
		return version + " (" + c[:min(12, len(c))] + ")"
	}
	return version
}

func buildCommit() string {
	if commit != "" {
		return commit
	}
	return buildSetting("vcs.revision")
}

// buildSetting reads what the toolchain recorded about this binary.
func buildSetting(key string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}

// parent returns a command that only groups others and calls none by itself.
func parent(use, short string, children ...*cobra.Command) *cobra.Command {
	cmd := &cobra.Command{Use: use, Short: short, Args: cobra.NoArgs, RunE: func(cmd *cobra.Command, _ []string) error {
		return &exitError{status: exitUsage, err: fmt.Errorf("%s needs a subcommand; see '%s --help'", cmd.CommandPath(), cmd.CommandPath())}
	}}
	cmd.AddCommand(children...)
	return cmd
}
