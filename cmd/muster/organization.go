package main

import (
	"github.com/spf13/cobra"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/config"
)

func organizationCommand(cfg *config.Config) *cobra.Command {
	var name, email, passwordFile string
	create := &cobra.Command{
		Use:     "create --name NAME --admin-email ADDRESS --admin-password-file FILE",
		Short:   "Make a further organization in this installation, with its administrator",
		Example: `  muster organization create --name "Second House" --admin-email ben@example.org --admin-password-file password`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := readPassword(passwordFile)
			if err != nil {
				return err
			}
			return withInstallation(cmd.Context(), cfg, func(in *installation) error {
				admin := &commands.NewMember{Email: email, Name: nameFromAddress(email), Role: organization.Admin, Password: password}
				made, _, _, err := in.commands.CreateOrganization(cmd.Context(), name, false, admin)
				if err != nil {
					return err
				}
				return say(cmd, "organization %s (%s), administrator %s\n", made.Name, made.ID, email)
			})
		},
	}
	create.Flags().StringVar(&name, "name", "", "the organization's name")
	create.Flags().StringVar(&email, "admin-email", "", "the administrator's address, which signs them in")
	create.Flags().StringVar(&passwordFile, "admin-password-file", "", "a file that holds the administrator's password")
	require(create, "name", "admin-email", "admin-password-file")
	return parent("organization", "Organizations of this installation", create)
}
