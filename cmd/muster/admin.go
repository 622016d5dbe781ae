package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"muster/commands"
	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/config"
	"muster/internal/text/pageaddress"
)

func adminCommand(cfg *config.Config) *cobra.Command {
	return parent("admin", "Administrators", adminCreateCommand(cfg), adminResetCommand(cfg))
}

func adminCreateCommand(cfg *config.Config) *cobra.Command {
	var email, name, passwordFile, organizationName string
	cmd := &cobra.Command{
		Use:     "create --email ADDRESS --name NAME [--password-file FILE]",
		Short:   "Add an administrator; without a password file a password is made and printed once",
		Example: `  muster admin create --email ana@example.org --name "Ana Alves" --in "My organization"`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			password, told, err := passwordOrNew(passwordFile)
			if err != nil {
				return err
			}
			return withInstallation(cmd.Context(), cfg, func(in *installation) error {
				target, err := in.organizationNamed(cmd.Context(), organizationName)
				if err != nil {
					return err
				}
				actor := commands.Actor{OrganizationID: target.ID, Component: "cli"}
				if _, _, err := in.commands.AddMember(cmd.Context(), actor,
					commands.NewMember{Email: email, Name: name, Role: organization.Admin, Password: password}); err != nil {
					return err
				}
				return say(cmd, "administrator %s of %s\n%s", email, target.Name, told)
			})
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "the address that signs them in")
	cmd.Flags().StringVar(&name, "name", "", "the person's name")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "a file that holds the password")
	cmd.Flags().StringVar(&organizationName, "in", "", "the organization's name or id; required if there are several")
	require(cmd, "email", "name")
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
			return withInstallation(cmd.Context(), cfg, func(in *installation) error {
				member, ok, err := in.accounts.MemberByEmail(cmd.Context(), email)
				switch {
				case err != nil:
					return err
				case !ok:
					return fmt.Errorf("no account has the address %s", email)
				case member.Status != organization.Active: // a password would let nobody in
					return fmt.Errorf("the account %s is %s; an administrator can change that, or 'muster admin create' makes one", email, member.Status)
				}
				if _, err := in.accounts.SetPassword(cmd.Context(), email, password); err != nil {
					return err
				}
				return say(cmd, "password of %s set, sessions ended\n%s", email, told)
			})
		},
	}
	cmd.Flags().StringVar(&email, "email", "", "the account's address")
	cmd.Flags().StringVar(&passwordFile, "password-file", "", "a file that holds the new password")
	require(cmd, "email")
	return cmd
}

func setupLinkCommand(cfg *config.Config) *cobra.Command {
	return &cobra.Command{
		Use:   "setup-link",
		Short: "Print a new link for the first administrator; it works once, for 30 minutes",
		Args:  cobra.NoArgs,
		Long: `Prints a new link for the first administrator. It leads to where the server of the data
directory listens, or listened last; --public-url or --listen name another address.`,
		RunE: opened(cfg, func(cmd *cobra.Command, _ []string, in *installation) error {
			if !in.cfg.AddressSet {
				in.cfg.PublicURL = cmp.Or(in.servedAt(), in.cfg.PublicURL)
			}
			link, err := in.setupLink(cmd.Context())
			if err != nil {
				return err
			}
			return say(cmd, "%s\n", link)
		}),
	}
}

// addressFile holds, in the data directory, under which URL serve was started last.
const addressFile = "address"

// noteAddress notes it for setup-link, which can do without.
func (in *installation) noteAddress() {
	err := os.WriteFile(filepath.Join(in.cfg.DataDir, addressFile), []byte(in.cfg.PublicURL+"\n"), 0o600)
	if err != nil {
		in.log.Info("'muster setup-link' needs --public-url: the data directory takes no files", "error", err)
	}
}

// servedAt is what was noted; empty: nothing.
func (in *installation) servedAt() string {
	noted, err := os.ReadFile(filepath.Join(in.cfg.DataDir, addressFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(noted))
}

// setupLink makes a link for the first administrator, of the demo organization
// where there is one.
func (in *installation) setupLink(ctx context.Context) (string, error) {
	organizations, err := in.accounts.Organizations(ctx)
	if err != nil {
		return "", err
	}
	target := uuid.Nil
	if len(organizations) > 0 {
		target = organizations[0].ID
	}
	token, _, err := in.accounts.NewSetupToken(ctx, target)
	var refused *accounts.Refusal
	if errors.As(err, &refused) {
		return "", errors.New("an administrator exists already; 'muster admin reset-password' helps one who is locked out")
	}
	if err != nil {
		return "", err
	}
	// In the fragment, which browsers keep to themselves: no proxy logs it.
	return pageaddress.Link(in.cfg.PublicURL, pageaddress.Setup) + "#token=" + token, nil
}

// organizationNamed finds the organization by name or id; the only one where
// nothing is given.
func (in *installation) organizationNamed(ctx context.Context, nameOrID string) (accounts.Organization, error) {
	all, err := in.accounts.Organizations(ctx)
	if err != nil {
		return accounts.Organization{}, err
	}
	var found []accounts.Organization
	for _, o := range all {
		if nameOrID == "" || o.Name == nameOrID || o.ID.String() == nameOrID {
			found = append(found, o)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(all) == 0:
		return accounts.Organization{}, errors.New("there is no organization yet; 'muster organization create' makes one")
	case nameOrID == "":
		return accounts.Organization{}, errors.New("there are several organizations; name one")
	case len(found) == 0:
		return accounts.Organization{}, fmt.Errorf("no organization is called %q", nameOrID)
	default:
		return accounts.Organization{}, fmt.Errorf("%d organizations are called %q; give the id", len(found), nameOrID)
	}
}

// readPassword reads a password file; a line end at its end is not part of it.
func readPassword(path string) (string, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return "", fmt.Errorf("read the password file: %w", err)
	}
	return strings.TrimRight(string(raw), "\r\n"), nil
}

// passwordOrNew is the password of the file, or a new one and the line that tells it.
func passwordOrNew(path string) (password, told string, err error) {
	if path == "" {
		password = rand.Text()
		return password, "password: " + password + "\n", nil
	}
	password, err = readPassword(path)
	return password, "", err
}

// nameFromAddress is the name of somebody of whom only the address is known.
func nameFromAddress(email string) string {
	name, _, _ := strings.Cut(email, "@")
	return name
}

// require marks flags as needed; cobra then names those that are missing.
func require(cmd *cobra.Command, flags ...string) {
	for _, f := range flags {
		if err := cmd.MarkFlagRequired(f); err != nil {
			panic(err) // a misspelt flag name: wiring
		}
	}
}
