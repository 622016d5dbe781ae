package channel

import (
	"fmt"
	"net/url"
	"slices"

	"muster/domain/notification"
	"muster/domain/printable"
	"muster/domain/rule"
)

// Member is a member of a channel's settings, spelled as in the API.
type Member string

// The members that only some kinds take.
const (
	MemberIDs      Member = "memberIds"
	Administrators Member = "administrators"
	Addresses      Member = "addresses"
	Format         Member = "format"
	URL            Member = "url"
	Secret         Member = "secret"
)

// Refuse returns the members that are set although the kind does not take them.
func Refuse(c notification.Channel, takes ...Member) (broken []rule.Broken) {
	for _, m := range []struct {
		Member
		set bool
	}{
		{MemberIDs, len(c.MemberIDs) > 0}, {Administrators, c.Administrators}, {Addresses, len(c.Addresses) > 0},
		{Format, c.Format != ""}, {URL, c.URL != ""}, {Secret, c.Secret != ""},
	} {
		if m.set && !slices.Contains(takes, m.Member) {
			broken = append(broken, rule.Broken{
				Pointer: "#/" + string(m.Member), Code: "out_of_range", Detail: "does not belong to a channel of kind " + string(c.Kind),
			})
		}
	}
	return broken
}

// BrokenURL returns the rule that a URL breaks. The detail never has the URL, which may be a secret.
func BrokenURL(text string) []rule.Broken {
	detail := ""
	u, err := url.Parse(text)
	switch {
	case text == "":
		detail = "is required"
	case len(text) > notification.MaxURL:
		detail = fmt.Sprintf("must be at most %d bytes", notification.MaxURL)
	case err != nil || !printable.Name(text) || u.Opaque != "" || u.Hostname() == "":
		detail = "is not a URL with a host"
	case u.Scheme != "https" && u.Scheme != "http":
		detail = "must begin with https:// or http://"
	case u.User != nil:
		detail = "must be without user and password"
	case u.Fragment != "":
		detail = "must be without a fragment"
	}
	if detail == "" {
		return nil
	}
	return []rule.Broken{{Pointer: "#/url", Code: "url_not_allowed", Detail: detail}}
}

// ShownURL shows an address that is no secret as it is, without its secret.
func ShownURL(a notification.Address) notification.Address {
	a.Secret = ""
	return a
}

// ShownHost shows scheme and host of an address whose rest is a secret.
func ShownHost(a notification.Address) notification.Address {
	if u, err := url.Parse(a.URL); err == nil {
		a.URL = u.Scheme + "://" + u.Host
	} else {
		a.URL = ""
	}
	return ShownURL(a)
}
