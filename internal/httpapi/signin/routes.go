package signin

import (
	"log/slog"
	"net/url"
	"time"

	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/internal/accounts"
	"muster/internal/accounts/oidc"
	"muster/internal/httpapi/wire"
	"muster/internal/mail"
	"muster/projections"
	"muster/projections/fleet"
)

// MemberRoutes are the operations on sessions, members, tokens and the organization.
type MemberRoutes struct {
	DB       *sqlx.DB
	Accounts *accounts.Store
	Commands *commands.Service
	Fleet    *fleet.Reader
	Waiter   projections.Waiter
	OIDC     *oidc.Provider // nil: people sign in with passwords only
	// FillDemo fills a demo organization in the background and returns at once;
	// filling one again changes nothing.
	FillDemo  func(accounts.Organization)
	Cookies   wire.Cookies // of the server
	PublicURL *url.URL
	// Mail takes invitations; nil: no mail server is set, and nothing is mailed.
	Mail     mail.Transport
	Composer *mail.Composer
	Log      *slog.Logger
	Now      func() time.Time
}
