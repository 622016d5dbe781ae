package organization

import (
	"fmt"

	"github.com/google/uuid"
)

// Statuses of a member. An invited one can receive reports, a disabled one
// cannot, and of an erased one only the id is left.
const (
	Invited  = "invited"
	Active   = "active"
	Disabled = "disabled"
	Erased   = "erased"
)

// Organization is one tenant, folded from its events. The zero value does not exist yet.
type Organization struct {
	created bool
	deleted bool
	members map[uuid.UUID]membership
	tokens  map[uuid.UUID]bool // true: works
}

type membership struct {
	role   Role
	status string
	joined bool // ever: has a way to sign in
}

// LastAdminError reports that a change would leave the organization without an administrator.
type LastAdminError struct{ MemberID uuid.UUID }

func (e *LastAdminError) Error() string {
	return fmt.Sprintf("member %s is the last active administrator", e.MemberID)
}

// UnknownError reports a member or token that the organization does not have.
type UnknownError struct {
	What string // member, token, organization
	ID   uuid.UUID
}

func (e *UnknownError) Error() string { return fmt.Sprintf("unknown %s %s", e.What, e.ID) }

// InvalidStatusError reports a change of status that does not exist: a member who has joined
// never becomes invited, and only accepting makes an invited member active. An erased member
// never changes.
type InvalidStatusError struct{ From, To string }

func (e *InvalidStatusError) Error() string {
	return fmt.Sprintf("a member who is %s cannot become %s", e.From, e.To)
}

// Apply folds one recorded event into the organization.
func (o *Organization) Apply(event Event) {
	if o.members == nil {
		o.members, o.tokens = make(map[uuid.UUID]membership), make(map[uuid.UUID]bool)
	}
	switch e := event.(type) {
	case Created:
		o.created = true
	case Deleted:
		o.deleted, o.members, o.tokens = true, make(map[uuid.UUID]membership), make(map[uuid.UUID]bool)
	case MemberInvited:
		o.members[e.MemberID] = membership{e.Role, Invited, false}
	case MemberJoined:
		o.members[e.MemberID] = membership{e.Role, Active, true}
	case MemberChanged:
		o.members[e.MemberID] = membership{e.Role, e.Status, o.members[e.MemberID].joined}
	case MemberErased:
		o.members[e.MemberID] = membership{status: Erased}
	case TokenMinted:
		o.tokens[e.TokenID] = true
	case TokenRevoked:
		o.tokens[e.TokenID] = false
	}
}

// Create makes the organization.
func (o *Organization) Create(demo bool) []Event {
	if o.created {
		return nil
	}
	return []Event{Created{Demo: demo}}
}

// Delete ends the organization, whoever administers it. Errors: *UnknownError if it does not
// exist or was deleted.
func (o *Organization) Delete(id uuid.UUID) ([]Event, error) {
	if !o.created || o.deleted {
		return nil, &UnknownError{What: "organization", ID: id}
	}
	return []Event{Deleted{}}, nil
}

// Invite adds a member who has yet to accept.
func (o *Organization) Invite(id uuid.UUID, role Role) []Event {
	if _, known := o.members[id]; known {
		return nil
	}
	return []Event{MemberInvited{MemberID: id, Role: role}}
}

// InviteAgain gives a member who has not accepted yet a new link, in the role
// they were invited into. Errors: *UnknownError, *InvalidStatusError.
func (o *Organization) InviteAgain(id uuid.UUID) ([]Event, error) {
	member, err := o.member(id)
	switch {
	case err != nil:
		return nil, err
	case member.status != Invited:
		return nil, &InvalidStatusError{From: member.status, To: Invited}
	}
	return []Event{MemberInvited{MemberID: id, Role: member.role}}, nil
}

// member returns a member who was not erased. Errors: *UnknownError.
func (o *Organization) member(id uuid.UUID) (membership, error) {
	m, known := o.members[id]
	if !known || m.status == Erased {
		return membership{}, &UnknownError{What: "member", ID: id}
	}
	return m, nil
}

// Join adds an active member, or makes the invited one active in the role they
// were invited into. A disabled member does not come back this way, nor an
// erased one.
func (o *Organization) Join(id uuid.UUID, role Role) ([]Event, error) {
	member, known := o.members[id]
	switch {
	case !known:
		return []Event{MemberJoined{MemberID: id, Role: role}}, nil
	case member.status == Active:
		return nil, nil
	case member.status != Invited:
		return nil, &InvalidStatusError{From: member.status, To: Active}
	}
	return []Event{MemberJoined{MemberID: id, Role: member.role}}, nil
}

// Change gives a member another role or status; nil stays as it is. A disabled member who never
// accepted their invitation becomes Invited again instead of Active: they have no way to sign
// in yet, so they could not be the only administrator. Errors: *UnknownError,
// *InvalidStatusError, *LastAdminError.
func (o *Organization) Change(id uuid.UUID, role *Role, status *string) ([]Event, error) {
	was, err := o.member(id)
	if err != nil {
		return nil, err
	}
	is := was
	if role != nil {
		is.role = *role
	}
	if status != nil {
		is.status = *status
	}
	if is == was {
		return nil, nil
	}
	if is.status != was.status && is.status != Disabled && (is.status != Active || was.status != Disabled) {
		return nil, &InvalidStatusError{From: was.status, To: is.status}
	}
	if is.status == Active && !was.joined {
		is.status = Invited
	}
	if !is.administers() && o.lastAdministrator(was) {
		return nil, &LastAdminError{MemberID: id}
	}
	return []Event{MemberChanged{MemberID: id, Role: is.role, Status: is.status}}, nil
}

// Erase forgets a member. Errors: *UnknownError, also for one who is erased
// already, *LastAdminError.
func (o *Organization) Erase(id uuid.UUID) ([]Event, error) {
	was, err := o.member(id)
	switch {
	case err != nil:
		return nil, err
	case o.lastAdministrator(was):
		return nil, &LastAdminError{MemberID: id}
	}
	return []Event{MemberErased{MemberID: id}}, nil
}

func (m membership) administers() bool { return m.role == Admin && m.status == Active }

// lastAdministrator says whether m is the only administrator of the organization.
func (o *Organization) lastAdministrator(m membership) bool {
	administrators := 0
	for _, other := range o.members {
		if other.administers() {
			administrators++
		}
	}
	return m.administers() && administrators == 1
}

// Mint records a token that an active member makes. Errors: *UnknownError.
func (o *Organization) Mint(id uuid.UUID, kind string, by uuid.UUID, scopes []Scope) ([]Event, error) {
	if o.members[by].status != Active {
		return nil, &UnknownError{What: "member", ID: by}
	}
	if _, known := o.tokens[id]; known {
		return nil, nil
	}
	names := make([]string, 0, len(scopes))
	for _, s := range scopes {
		names = append(names, string(s))
	}
	return []Event{TokenMinted{TokenID: id, Kind: kind, Scopes: names}}, nil
}

// Revoke ends a token.
func (o *Organization) Revoke(id uuid.UUID) ([]Event, error) {
	works, known := o.tokens[id]
	switch {
	case !known:
		return nil, &UnknownError{What: "token", ID: id}
	case !works:
		return nil, nil
	}
	return []Event{TokenRevoked{TokenID: id}}, nil
}
