package operate

import (
	"cmp"
	"crypto/rand"
	"fmt"

	"github.com/spf13/cobra"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/organization"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
)

// AdminCommand returns the command admin.
func AdminCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("admin", "Administrators", adminCreateCommand(cfg), adminResetCommand(cfg))
}

func adminCreateCommand(cfg *config.Config) *cobra.Command {
	var email, name, passwordFile, organizationName string
	cmd := &cobra.Command{
		Use:     "create --email ADDRESS --name NAME [--password-file FILE]",
		Short:   "Add an administrator; without a password file, create a password and print it once",
		Example: `  muster admin create --email ana@example.org --name "Ana Alves" --in "My organization"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, told, err := passwordOrNew(passwordFile)
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				target, err := in.OrganizationNamed(cmd.Context(), organizationName)
				if err != nil {
					return err
				}
				actor := usecase.Actor{OrganizationID: target.ID, Component: "cli"}
				if _, _, err := in.Commands.AddMember(cmd.Context(), actor,
					commands.NewMember{Email: email, Name: name, Role: organization.Admin, Password: password}); err != nil {
					return err
				}
				return command.Say(cmd, "administrator %s of %s\n%s", email, target.Name, told)
			})
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "the address with which the administrator signs in")
	cmd.Flags().StringVar(&name, "name", "", "the person's name")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "a file that holds the password")
	cmd.Flags().StringVar(&organizationName, "in", "", "the organization's name or id; required if there are several")
	command.Require(cmd, "email", "name")
	return cmd
}

func adminResetCommand(cfg *config.Config) *cobra.Command {
	var email, passwordFile string
	cmd := &cobra.Command{
		Use:     "reset-password --email ADDRESS [--password-file FILE]",
		Short:   "Set a new password for an account and end its sessions",
		Example: `  muster admin reset-password --email ana@example.org`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, told, err := passwordOrNew(passwordFile)
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				member, ok, err := in.Accounts.MemberByEmail(cmd.Context(), email)
				switch {
				case err != nil:
					return err
				case !ok:
					return fmt.Errorf("no account has the address %s", email)
				case member.Status != organization.Active: // a password would let nobody in
					return fmt.Errorf("the account %s is %s; an administrator can change that, or 'muster admin create' makes one", email, member.Status)
				}
				if _, err := in.Accounts.SetPassword(cmd.Context(), email, password); err != nil {
					return err
				}
				return command.Say(cmd, "password of %s set, sessions ended\n%s", email, told)
			})
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "the account's address")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "a file that holds the new password")
	command.Require(cmd, "email")
	return cmd
}

// SetupLinkCommand returns the command setup-link.
func SetupLinkCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "setup-link",
		Short: "Print a new link for the first administrator; it works once, for 30 minutes",
		Args:  cobra.NoArgs,
		Long: `Prints a new link for the first administrator. The link has the address at which the
server of the data directory listens, or last listened. --public-url or --listen sets
another address.`,
		RunE: installation.Opened(cfg, func(cmd *cobra.Command, _ []string, in *installation.Installation) error {
			if !in.Config.AddressSet {
				in.Config.PublicURL = cmp.Or(in.ServedAt(), in.Config.PublicURL)
			}
			link, err := in.SetupLink(cmd.Context())
			if err != nil {
				return err
			}
			return command.Say(cmd, "%s\n", link)
		}),
	}
}

// passwordOrNew is the password of the file, or a new one and the line that tells it.
func passwordOrNew(path string) (password, told string, err error) {
	if path == "" {
		password = rand.Text()
		return password, "password: " + password + "\n", nil
	}
	password, err = command.ReadPassword(path)
	return password, "", err
}
