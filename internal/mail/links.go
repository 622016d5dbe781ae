package mail

import (
	_ "embed" // the templates
	"fmt"
	"html"
	"os"
	"time"

	"github.com/google/uuid"

	"muster/domain/printable"
)

// Invitation is the mail with which somebody becomes a member.
type Invitation struct {
	OrganizationID, MemberID uuid.UUID
	Organization             string
	Demo                     bool
	Inviter                  string // their name; empty: it is not known
	Link                     string
	At                       time.Time
}

// Confirmation is the mail by which an address that is no member's agrees to get alerts.
type Confirmation struct {
	OrganizationID, AddressID uuid.UUID
	Organization              string
	Demo                      bool
	Asker                     string // the name of who entered the address
	Channel                   string
	Link                      string
	At                        time.Time
}

var (
	//go:embed templates/link.html
	linkHTML string
	//go:embed templates/link.txt
	linkText string
)

// ComposeInvitation makes the mail of an invitation. It fails with a final *DeliveryError
// where the address is none.
func (c *Composer) ComposeInvitation(i Invitation, to Address) (ComposedMail, error) {
	who := printable.Clean(i.Inviter)
	if who == "" {
		who = "An administrator"
	}
	organization := printable.Clean(i.Organization)
	return c.composeLink(letterWithLink{
		organizationID: i.OrganizationID, to: i.MemberID, kind: "invitations", organization: organization, demo: i.Demo, at: i.At,
		subject: fmt.Sprintf("%s invites you to Muster", who),
		values: map[string]string{
			"Title": "You are invited to Muster",
			"Says":  fmt.Sprintf("%s invites you to %s, where Muster watches database servers and reports on them.", who, organization),
			"Verb":  "Accept the invitation", "Link": i.Link,
			"Note":    "The link works once and for 24 hours. Do not pass it on: it signs its holder in.",
			"Because": fmt.Sprintf("You receive this e-mail because %s entered your address. If you do not expect it, ignore it.", who),
		},
	}, to)
}

// ComposeConfirmation makes the mail that asks an address. It says nothing of servers and
// alerts: nobody knows yet whose address it is. It fails with a final *DeliveryError where
// the address is none.
func (c *Composer) ComposeConfirmation(q Confirmation, to Address) (ComposedMail, error) {
	organization, who := printable.Clean(q.Organization), printable.Clean(q.Asker)
	if who == "" {
		who = "an administrator"
	}
	return c.composeLink(letterWithLink{
		organizationID: q.OrganizationID, to: q.AddressID, kind: "confirmations", organization: organization, demo: q.Demo, at: q.At,
		subject: "Confirm this address for alerts",
		values: map[string]string{
			"Title": "Do you want alerts at this address?",
			"Says": fmt.Sprintf("In %s, %s entered this address in the channel “%s”. Once you confirm, Muster sends alerts of database servers here.",
				organization, who, printable.Clean(q.Channel)),
			"Verb": "Confirm the address", "Link": q.Link,
			"Note":    "The link works once and for 48 hours. Until it is used, Muster sends nothing else here.",
			"Because": "You receive this e-mail because an administrator entered your address. If you do not want alerts, ignore it.",
		},
	}, to)
}

// letterWithLink is a mail whose point is one link, which holds a secret.
type letterWithLink struct {
	organizationID, to          uuid.UUID
	kind, organization, subject string
	demo                        bool
	at                          time.Time
	values                      map[string]string
}

func (c *Composer) composeLink(l letterWithLink, to Address) (ComposedMail, error) {
	id, err := uuid.NewV7()
	if err != nil {
		return ComposedMail{}, fmt.Errorf("name a mail: %w", err)
	}
	to.Name = printable.Clean(to.Name)
	l.values["Organization"], l.values["Preheader"] = l.organization, l.values["Says"]
	subject, text, row := l.subject+" · "+l.organization, linkText, ""
	if l.demo {
		subject, text, row = "[Demo] "+subject, demoText+text, demoHTML
	}
	text = os.Expand(text, func(name string) string { return l.values[name] })
	page := os.Expand(framed(linkHTML), func(name string) string {
		if name == "Demo" {
			return row
		}
		return html.EscapeString(l.values[name])
	})
	return c.compose(to, part{
		at: l.at, id: fmt.Sprintf("%s.%s@%s.muster.internal", id, l.to, l.kind), name: fmt.Sprintf("%s.%s.%s", l.organizationID, id, l.to),
		boundary: "muster-" + id.String(), subject: subject, text: text, page: page,
	})
}
