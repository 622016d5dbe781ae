package organization

// Types returns the wire name of every event of an organization with an empty
// value of its type. All are at schema version 1. A name that was ever written
// stays.
func Types() map[string]Event {
	types := make(map[string]Event)
	for _, e := range []Event{
		Created{}, SettingsChanged{}, MemberInvited{}, MemberJoined{}, MemberChanged{}, MemberErased{}, TokenMinted{}, TokenRevoked{},
	} {
		types[Name(e)] = e
	}
	return types
}

// Name returns the wire name of an event.
func Name(e Event) string {
	switch e.(type) {
	case Created:
		return "organization.created"
	case SettingsChanged:
		return "organization.settings_changed"
	case MemberInvited:
		return "member.invited"
	case MemberJoined:
		return "member.joined"
	case MemberChanged:
		return "member.changed"
	case MemberErased:
		return "member.erased"
	case TokenMinted:
		return "token.minted"
	case TokenRevoked:
		return "token.revoked"
	}
	return ""
}
