// Package kinds has the one list of the kinds of channels. A kind that is not in it is an
// error wherever one is looked for.
package kinds

import (
	"fmt"
	"slices"

	"muster/domain/notification"
	"muster/domain/rule"
	"muster/internal/notify/channel"
	"muster/internal/notify/channel/alertmanager"
	"muster/internal/notify/channel/chat"
	"muster/internal/notify/channel/email"
	"muster/internal/notify/channel/pagerduty"
	"muster/internal/notify/channel/team"
	"muster/internal/notify/channel/teams"
	"muster/internal/notify/channel/webhook"
)

// All returns every kind, in the order in which the pages offer them.
func All() []channel.Kind {
	return []channel.Kind{email.Kind(), team.Kind(), webhook.Kind(), chat.Kind(), alertmanager.Kind(), teams.Kind(), pagerduty.Kind()}
}

// Find returns the kind of a name. An error means that this program does not know it.
func Find(name notification.Kind) (channel.Kind, error) {
	all := All()
	i := slices.IndexFunc(all, func(k channel.Kind) bool { return k.Name == name })
	if i < 0 {
		return channel.Kind{}, fmt.Errorf("%q is no kind of channel", name)
	}
	return all[i], nil
}

// Names returns the names of the kinds for which is says true.
func Names(is func(channel.Kind) bool) (names []string) {
	for _, k := range All() {
		if is(k) {
			names = append(names, string(k.Name))
		}
	}
	return names
}

// Judge judges the settings of channels: by the rules of their kind, and by the networks of
// the installation.
type Judge struct{ *channel.Poster }

// Broken returns the rules that the settings of a channel break.
func (Judge) Broken(c notification.Channel) []rule.Broken {
	kind, err := Find(c.Kind)
	if err != nil {
		return []rule.Broken{{Pointer: "#/kind", Code: "out_of_range", Detail: "is no kind of channel"}}
	}
	return kind.Validate(c)
}
