package installation

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/uuid"

	"muster/internal/accounts"
	"muster/internal/text/pageaddress"
)

// addressFile holds, in the data directory, under which URL serve was started last.
const addressFile = "address"

// NoteAddress notes it for setup-link, which can do without.
func (in *Installation) NoteAddress() {
	err := os.WriteFile(filepath.Join(in.Config.DataDir, addressFile), []byte(in.Config.PublicURL+"\n"), 0o600)
	if err != nil {
		in.Log.Info("'muster setup-link' needs --public-url: the data directory takes no files", "error", err)
	}
}

// ServedAt is what was noted; empty: nothing.
func (in *Installation) ServedAt() string {
	noted, err := os.ReadFile(filepath.Join(in.Config.DataDir, addressFile))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(noted))
}

// SetupLink makes a link for the first administrator, of the demo organization
// where there is one.
func (in *Installation) SetupLink(ctx context.Context) (string, error) {
	organizations, err := in.Accounts.Organizations(ctx)
	if err != nil {
		return "", err
	}
	target := uuid.Nil
	if len(organizations) > 0 {
		target = organizations[0].ID
	}
	token, _, err := in.Accounts.NewSetupToken(ctx, target)
	var refused *accounts.Refusal
	if errors.As(err, &refused) {
		return "", errors.New("an administrator exists already; 'muster admin reset-password' helps one who is locked out")
	}
	if err != nil {
		return "", err
	}
	// In the fragment, which browsers keep to themselves: no proxy logs it.
	return pageaddress.Link(in.Config.PublicURL, pageaddress.Setup) + "#token=" + token, nil
}

// OrganizationNamed finds the organization by name or id; the only one where
// nothing is given.
func (in *Installation) OrganizationNamed(ctx context.Context, nameOrID string) (accounts.Organization, error) {
	all, err := in.Accounts.Organizations(ctx)
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

// PrincipalOf is who a token minted on the command line acts for: whoever can
// run it holds the database, so it may mint what the member could.
func (in *Installation) PrincipalOf(ctx context.Context, email string) (accounts.Principal, error) {
	member, ok, err := in.Accounts.MemberByEmail(ctx, email)
	if err != nil {
		return accounts.Principal{}, err
	}
	if !ok {
		return accounts.Principal{}, fmt.Errorf("no account has the address %s", email)
	}
	o, ok, err := in.Accounts.Organization(ctx, member.OrganizationID)
	if err == nil && !ok {
		err = fmt.Errorf("the organization of %s is gone", email)
	}
	return accounts.Principal{Member: member, Organization: o, Method: "password"}, err
}
