package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
)

// OrganizationCommand returns the command organization.
func OrganizationCommand(cfg *config.Config) *cobra.Command {
	return command.Parent("organization", "Organizations of this installation", organizationCreateCommand(cfg), organizationDeleteCommand(cfg))
}

func organizationCreateCommand(cfg *config.Config) *cobra.Command {
	var name, email, passwordFile string
	create := &cobra.Command{
		Use:     "create --name NAME --admin-email ADDRESS --admin-password-file FILE",
		Short:   "Create another organization in this installation, with its administrator",
		Example: `  muster organization create --name "Second House" --admin-email ben@example.org --admin-password-file password`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, err := command.ReadPassword(passwordFile)
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				admin := &commands.NewMember{Email: email, Name: command.NameFromAddress(email), Role: organization.Admin, Password: password}
				made, _, _, err := in.Commands.CreateOrganization(cmd.Context(), name, false, admin)
				if err != nil {
					return err
				}
				return command.Say(cmd, "organization %s (%s), administrator %s\n", made.Name, made.ID, email)
			})
		},
	}
	create.Flags().StringVar(&name, "name", "", "the organization's name")
	create.Flags().StringVar(&email, "admin-email", "", "the address with which the administrator signs in")
	create.Flags().StringVar(&passwordFile, "admin-password-file", "", "a file that holds the administrator's password")
	command.Require(create, "name", "admin-email", "admin-password-file")
	return create
}

func organizationDeleteCommand(cfg *config.Config) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "delete NAME --yes",
		Short: "Delete an organization's files, measurements and personal data; its events stay",
		Long: `Deletes an organization, by name or id: its members, tokens and sessions, the files of
its reports, its measurements, the connections of its servers, assessments and
findings. You cannot undo this. The organization's events stay; they name no member.

Without --yes the command lists the data, deletes nothing and ends with status 2. If
it is interrupted, run it again, and it continues. 'serve' may run meanwhile.`,
		Example: `  muster organization delete "Second House"
  muster organization delete "Second House" --yes`,
		Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return installation.WithAccess(cmd.Context(), cfg, installation.Access{Pool: 4, Files: true, Measured: true}, func(in *installation.Installation) error {
				target, err := findDeletable(cmd.Context(), in, args[0])
				if err != nil {
					return err
				}
				if !yes {
					return tellDeletion(in, cmd, target)
				}
				if target.finished {
					return command.Say(cmd, "organization %s was deleted before; nothing is left of it but its events\n", target.id)
				}
				if err := in.Deletion().Delete(cmd.Context(), target.id, "cli"); err != nil {
					return err
				}
				return command.Say(cmd, "organization %s (%s) is deleted; its events stay\n", target.name, target.id)
			})
		},
	}
	cmd.Flags().BoolVar(&yes, "yes", false, "delete it; without this flag, only list the data")
	return cmd
}

// deletable is an organization, or what may be left of one that was deleted.
type deletable struct {
	id       uuid.UUID
	name     string
	finished bool // nothing is left
}

// findDeletable finds one by name or id.
func findDeletable(ctx context.Context, in *installation.Installation, nameOrID string) (deletable, error) {
	all, err := in.Accounts.Organizations(ctx)
	if err != nil {
		return deletable{}, err
	}
	before, err := in.Accounts.Deletions(ctx)
	if err != nil {
		return deletable{}, err
	}
	var found []deletable
	for _, o := range all {
		if o.Name == nameOrID || o.ID.String() == nameOrID {
			found = append(found, deletable{id: o.ID, name: o.Name})
		}
	}
	for _, o := range before {
		if o.Name == nameOrID && o.FinishedAt == nil || o.ID.String() == nameOrID {
			found = append(found, deletable{id: o.ID, name: o.Name, finished: o.FinishedAt != nil})
		}
	}
	switch {
	case nameOrID == "" || len(found) == 0:
		return deletable{}, fmt.Errorf("no organization is called %q", nameOrID)
	case len(found) > 1:
		ids := make([]string, len(found))
		for i, o := range found {
			ids[i] = o.id.String()
		}
		return deletable{}, fmt.Errorf("%d organizations are called %q; give the id: %s", len(found), nameOrID, strings.Join(ids, ", "))
	}
	return found[0], nil
}

// tellDeletion says what there is to delete, and that --yes would do it.
func tellDeletion(in *installation.Installation, cmd *cobra.Command, target deletable) error {
	goes, events, err := in.Deletion().Count(cmd.Context(), target.id)
	if err != nil {
		return err
	}
	if err := command.Say(cmd, "organization %s (%s) has\n", target.name, target.id); err != nil {
		return err
	}
	for _, c := range goes {
		if err := command.Say(cmd, "%12d %s\n", c.N, c.What); err != nil {
			return err
		}
	}
	if err := command.Say(cmd, "All of it would be deleted for good. %d events would stay.\n", events); err != nil {
		return err
	}
	return &command.ExitError{Status: command.ExitUsage, Err: errors.New("nothing was deleted; --yes deletes it")}
}
