package prove

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
	"muster/internal/proof/attest"
)

// TrustCommand returns the command trust.
func TrustCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("trust", "The trust file that an auditor verifies with", trustInitCommand(cfg))
}

func trustInitCommand(cfg *config.Config) *cobra.Command {
	var keysFile, authority, witnesses string
	var needed int
	cmd := &cobra.Command{
		Use:   "init [--keys FILE] [--tsa-ca FILE] [--witnesses FILE] [--needed N]",
		Short: "Print a trust file: keys, time stamp authorities, and required witnesses",
		Long: `Prints one document with everything that 'muster verify --offline --trust FILE' relies on:

  * the public keys of this installation, or those in --keys
  * the certificates of the time stamp authorities that you trust (--tsa-ca)
  * the witnesses (--witnesses, else those of MUSTER_WITNESSES), and the number of them
    that must have signed (--needed, else more than half)

Keep the document away from the installation: anyone who can change it decides which
reports pass.`,
		Example: `  muster trust init --tsa-ca ca.pem > trust.json
  muster trust init --keys muster-keys.json --witnesses witnesses.txt --needed 2 > trust.json   without the installation`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var file attest.TrustFile
			if witnesses == "" {
				witnesses = cfg.Witnesses
			}
			if err := errors.Join(trustTSA(&file, authority), trustWitnesses(&file, witnesses)); err != nil {
				return command.Usage(strings.Split(err.Error(), "\n"))
			}
			file.WitnessesNeeded = needed
			if !cmd.Flags().Changed("needed") && len(file.Witnesses) > 0 {
				file.WitnessesNeeded = len(file.Witnesses)/2 + 1
			}
			if keysFile != "" {
				keys, err := readKeys(keysFile)
				if err != nil {
					return command.Usage([]string{"--keys: " + err.Error()})
				}
				if unsignedKeys(keys) {
					fmt.Fprintln(cmd.ErrOrStderr(), unsignedSentence)
				}
				return printTrust(cmd, file, keys)
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				keys, err := in.Signing.Keys(cmd.Context())
				if err != nil {
					return err
				}
				return printTrust(cmd, file, keys)
			})
		},
	}
	cmd.Flags().StringVar(&keysFile, "keys", "", "the installation's public keys, from /.well-known/muster-keys.json (default those of this installation)")
	cmd.Flags().StringVar(&authority, "tsa-ca", "", "certificates (PEM) of the time stamp authorities that you trust")
	cmd.Flags().StringVar(&witnesses, "witnesses", "", "a file of witnesses, one verifier key per line (default MUSTER_WITNESSES)")
	cmd.Flags().IntVar(&needed, "needed", 0, "the number of witnesses that must have signed")
	return cmd
}

func printTrust(cmd *cobra.Command, file attest.TrustFile, keys attest.Keys) error {
	file.Keys = keys.Keys
	text, err := file.Encode()
	if err != nil {
		return err
	}
	sayFingerprint(cmd, keys)
	return command.Say(cmd, "%s", text)
}

func trustTSA(file *attest.TrustFile, path string) error {
	if path == "" {
		return nil
	}
	certificates, err := os.ReadFile(path)
	file.TSACertificates = string(certificates)
	return err
}

func trustWitnesses(file *attest.TrustFile, path string) error {
	if path == "" {
		return nil
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if _, err := attest.ParseWitnesses(content); err != nil {
		return err
	}
	for line := range strings.Lines(string(content)) {
		if fields := strings.Fields(line); len(fields) > 0 && !strings.HasPrefix(fields[0], "#") {
			file.Witnesses = append(file.Witnesses, fields[0])
		}
	}
	return nil
}
