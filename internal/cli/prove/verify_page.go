package prove

import (
	"os"

	"github.com/spf13/cobra"

	"muster/internal/proof/attest/page"
)

// WithPage gives `muster verify` its --page, which asks neither a file nor an
// installation.
func WithPage(cmd *cobra.Command) *cobra.Command {
	flags := cmd.Flags()
	asked := flags.Bool("page", false, "print an HTML file that checks like --offline, in a browser; --keys FILE includes the keys")
	if flags.Lookup("keys") == nil {
		flags.String("keys", "", "the installation's public keys, from /.well-known/muster-keys.json; with --page")
	}
	cmd.Example += "\n  muster verify --page --keys muster-keys.json > check.html"
	arguments, run := cmd.Args, cmd.RunE
	cmd.Args = func(cmd *cobra.Command, args []string) error {
		if *asked {
			return cobra.NoArgs(cmd, args)
		}
		return arguments(cmd, args)
	}
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if !*asked {
			return run(cmd, args)
		}
		return printPage(cmd, flags.Lookup("keys").Value.String())
	}
	return cmd
}

func printPage(cmd *cobra.Command, keysFile string) error {
	var keys []byte
	if keysFile != "" {
		var err error
		if keys, err = os.ReadFile(keysFile); err != nil {
			return err
		}
	}
	html, err := page.Write(keys)
	if err != nil {
		return err
	}
	_, err = cmd.OutOrStdout().Write(html)
	return err
}
