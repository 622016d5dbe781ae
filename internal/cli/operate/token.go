package operate

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"muster/domain/organization"
	"muster/internal/accounts"
	"muster/internal/cli/command"
	"muster/internal/cli/installation"
	"muster/internal/config"
)

// TokenCommand returns the command create.
func TokenCommand(cfg *config.Config) *cobra.Command {
	var kind, email, name, scopes, expires string
	create := &cobra.Command{
		Use:   "create --kind api|ingest --email ADDRESS [--scopes a,b] [--expires 90d]",
		Short: "Create a token for a member and print it once",
		Long: `Prints a new token, and nothing else, on standard output. Muster does not store the
token and cannot show it again. A token never has more rights than its member's role.

Scopes of an API token: ` + scopeNames() + `
An ingest token works under /ingest/v1 only and takes no scopes.`,
		Example: `  muster token create --kind api --email ana@example.org --scopes reports:read,reports:create --expires 30d`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			wanted, err := newToken(kind, name, scopes, expires, time.Now())
			if err != nil {
				return err
			}
			return installation.With(cmd.Context(), cfg, func(in *installation.Installation) error {
				by, err := in.PrincipalOf(cmd.Context(), email)
				if err != nil {
					return err
				}
				if len(wanted.Scopes) == 0 {
					wanted.Scopes = by.Permissions()
				}
				_, secret, _, err := in.Commands.MintToken(cmd.Context(), by, "", wanted)
				if err != nil {
					return err
				}
				return command.Say(cmd, "%s\n", secret)
			})
		},
	}
	create.Flags().StringVar(&kind, "kind", "api", "api or ingest")
	create.Flags().StringVar(&email, "email", "", "the address of the member for whom the token acts")
	create.Flags().StringVar(&name, "name", "command line", "the name of the token in lists")
	create.Flags().StringVar(&scopes, "scopes", "", "comma-separated scopes (default everything that the member's role allows)")
	create.Flags().StringVar(&expires, "expires", "90d", "lifetime of the token (12h, 90d), at most a year, or the RFC 3339 time of its end")
	command.Require(create, "email")
	return command.Parent("token", "API and ingest tokens", create)
}

func scopeNames() string {
	var names []string
	for _, s := range organization.Scopes() {
		names = append(names, string(s))
	}
	return strings.Join(names, " ")
}

// newToken reads the flags; all that is wrong with them is in one error.
func newToken(kind, name, scopes, expires string, now time.Time) (accounts.NewToken, error) {
	t := accounts.NewToken{Kind: kind, Name: name}
	var wrong []string
	if kind != "api" && kind != "ingest" {
		wrong = append(wrong, fmt.Sprintf("--kind is %q, not api or ingest", kind))
	}
	if kind == "ingest" && scopes != "" {
		wrong = append(wrong, "--scopes: an ingest token takes none")
	}
	for _, s := range strings.FieldsFunc(scopes, func(r rune) bool { return r == ',' || r == ' ' }) {
		scope := organization.Scope(s)
		if !slices.Contains(organization.Scopes(), scope) {
			wrong = append(wrong, fmt.Sprintf("--scopes: there is no scope %q", s))
		}
		t.Scopes = append(t.Scopes, scope)
	}
	until, err := parseExpiry(expires, now)
	if err != nil {
		wrong = append(wrong, "--expires: "+err.Error())
	}
	t.ExpiresAt = until
	return t, command.Usage(wrong)
}

func parseExpiry(s string, now time.Time) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, s); err == nil {
		return at, nil
	}
	if days, ok := strings.CutSuffix(s, "d"); ok {
		var n int
		if _, err := fmt.Sscanf(days, "%d", &n); err == nil && n > 0 && fmt.Sprint(n) == days {
			return now.AddDate(0, 0, n), nil
		}
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return time.Time{}, fmt.Errorf("%q is neither a duration (12h, 90d) nor an RFC 3339 time", s)
	}
	return now.Add(d), nil
}
