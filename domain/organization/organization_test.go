package organization_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/domain/organization"
)

var (
	ana = uuid.UUID{15: 1}
	ben = uuid.UUID{15: 2}
	key = uuid.UUID{15: 3}
)

type events = []organization.Event

func joined(id uuid.UUID, role organization.Role) organization.Event {
	return organization.MemberJoined{MemberID: id, Role: role}
}

func changed(id uuid.UUID, role organization.Role, status string) organization.Event {
	return organization.MemberChanged{MemberID: id, Role: role, Status: status}
}

func ptr[T any](v T) *T { return &v }

func TestOrganization(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name  string
		given events
		when  func(o *organization.Organization) (events, error)
		then  events
		err   error
	}{
		{name: "created once", given: events{organization.Created{}},
			when: func(o *organization.Organization) (events, error) { return o.Create(false), nil }},
		{name: "deleted, whoever administers it", given: events{organization.Created{}, joined(ana, organization.Admin)},
			when: func(o *organization.Organization) (events, error) { return o.Delete(ben) },
			then: events{organization.Deleted{}}},
		{name: "deleted twice", given: events{organization.Created{}, organization.Deleted{}},
			when: func(o *organization.Organization) (events, error) { return o.Delete(ben) },
			err:  &organization.UnknownError{What: "organization", ID: ben}},
		{name: "nobody changes who was a member", given: events{organization.Created{}, joined(ana, organization.Admin), organization.Deleted{}},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ana, ptr(organization.Viewer), nil)
			},
			err: &organization.UnknownError{What: "member", ID: ana}},
		{name: "an invited member joins in the role they were invited into",
			given: events{organization.MemberInvited{MemberID: ben, Role: organization.Auditor}},
			when:  func(o *organization.Organization) (events, error) { return o.Join(ben, organization.Admin) },
			then:  events{joined(ben, organization.Auditor)}},
		{name: "accepting twice is accepting once",
			given: events{organization.MemberInvited{MemberID: ben, Role: organization.Member}, joined(ben, organization.Member)},
			when:  func(o *organization.Organization) (events, error) { return o.Join(ben, organization.Member) }},
		{name: "an invitation does not bring a disabled member back",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Member), changed(ben, organization.Member, organization.Disabled)},
			when:  func(o *organization.Organization) (events, error) { return o.Join(ben, organization.Member) },
			err:   &organization.InvalidStatusError{From: organization.Disabled, To: organization.Active}},
		{name: "another role",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Viewer)},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ben, ptr(organization.Member), nil)
			},
			then: events{changed(ben, organization.Member, organization.Active)}},
		{name: "the role they have",
			given: events{joined(ana, organization.Admin)},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ana, ptr(organization.Admin), ptr(organization.Active))
			}},
		{name: "the last administrator keeps the role",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Member)},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ana, ptr(organization.Auditor), nil)
			},
			err: &organization.LastAdminError{MemberID: ana}},
		{name: "the last administrator is not disabled",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Admin), changed(ben, organization.Admin, organization.Disabled)},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ana, nil, ptr(organization.Disabled))
			},
			err: &organization.LastAdminError{MemberID: ana}},
		{name: "an invited administrator is not one yet",
			given: events{joined(ana, organization.Admin), organization.MemberInvited{MemberID: ben, Role: organization.Admin}},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ana, nil, ptr(organization.Disabled))
			},
			err: &organization.LastAdminError{MemberID: ana}},
		{name: "one of two may go",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Admin)},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ana, nil, ptr(organization.Disabled))
			},
			then: events{changed(ana, organization.Admin, organization.Disabled)}},
		{name: "a disabled member may come back",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Member), changed(ben, organization.Member, organization.Disabled)},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ben, nil, ptr(organization.Active))
			},
			then: events{changed(ben, organization.Member, organization.Active)}},
		{name: "nobody is made active who has not accepted",
			given: events{joined(ana, organization.Admin), organization.MemberInvited{MemberID: ben, Role: organization.Member}},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ben, nil, ptr(organization.Active))
			},
			err: &organization.InvalidStatusError{From: organization.Invited, To: organization.Active}},
		{name: "who never accepted is invited again, and not an administrator that nobody can be",
			given: events{
				joined(ana, organization.Admin), organization.MemberInvited{MemberID: ben, Role: organization.Admin},
				changed(ben, organization.Admin, organization.Disabled),
			},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ben, nil, ptr(organization.Active))
			},
			then: events{changed(ben, organization.Admin, organization.Invited)}},
		{name: "who accepts after that joins",
			given: events{
				organization.MemberInvited{MemberID: ben, Role: organization.Member},
				changed(ben, organization.Member, organization.Disabled), changed(ben, organization.Auditor, organization.Invited),
			},
			when: func(o *organization.Organization) (events, error) { return o.Join(ben, organization.Member) },
			then: events{joined(ben, organization.Auditor)}},
		{name: "a stranger",
			given: events{joined(ana, organization.Admin)},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ben, nil, ptr(organization.Disabled))
			},
			err: &organization.UnknownError{What: "member", ID: ben}},
		{name: "a new link for who has not accepted",
			given: events{organization.MemberInvited{MemberID: ben, Role: organization.Auditor}},
			when:  func(o *organization.Organization) (events, error) { return o.InviteAgain(ben) },
			then:  events{organization.MemberInvited{MemberID: ben, Role: organization.Auditor}}},
		{name: "no new link for who has",
			given: events{joined(ben, organization.Member)},
			when:  func(o *organization.Organization) (events, error) { return o.InviteAgain(ben) },
			err:   &organization.InvalidStatusError{From: organization.Active, To: organization.Invited}},
		{name: "nor for a stranger",
			when: func(o *organization.Organization) (events, error) { return o.InviteAgain(ben) },
			err:  &organization.UnknownError{What: "member", ID: ben}},
		{name: "a member is erased",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Member)},
			when:  func(o *organization.Organization) (events, error) { return o.Erase(ben) },
			then:  events{organization.MemberErased{MemberID: ben}}},
		{name: "the last administrator is not erased",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Member)},
			when:  func(o *organization.Organization) (events, error) { return o.Erase(ana) },
			err:   &organization.LastAdminError{MemberID: ana}},
		{name: "an invited administrator is",
			given: events{joined(ana, organization.Admin), organization.MemberInvited{MemberID: ben, Role: organization.Admin}},
			when:  func(o *organization.Organization) (events, error) { return o.Erase(ben) },
			then:  events{organization.MemberErased{MemberID: ben}}},
		{name: "an erased administrator is none",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Admin), organization.MemberErased{MemberID: ben}},
			when:  func(o *organization.Organization) (events, error) { return o.Erase(ana) },
			err:   &organization.LastAdminError{MemberID: ana}},
		{name: "who was erased is a stranger",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Member), organization.MemberErased{MemberID: ben}},
			when:  func(o *organization.Organization) (events, error) { return o.Erase(ben) },
			err:   &organization.UnknownError{What: "member", ID: ben}},
		{name: "also to a change",
			given: events{joined(ben, organization.Member), organization.MemberErased{MemberID: ben}},
			when: func(o *organization.Organization) (events, error) {
				return o.Change(ben, nil, ptr(organization.Active))
			},
			err: &organization.UnknownError{What: "member", ID: ben}},
		{name: "and an invitation that they still hold brings nobody back",
			given: events{organization.MemberInvited{MemberID: ben, Role: organization.Member}, organization.MemberErased{MemberID: ben}},
			when:  func(o *organization.Organization) (events, error) { return o.Join(ben, organization.Member) },
			err:   &organization.InvalidStatusError{From: organization.Erased, To: organization.Active}},
		{name: "a token of an active member",
			given: events{joined(ana, organization.Admin)},
			when: func(o *organization.Organization) (events, error) {
				return o.Mint(key, "api", ana, []organization.Scope{organization.ScopeReportsRead})
			},
			then: events{organization.TokenMinted{TokenID: key, Kind: "api", Scopes: []string{"reports:read"}}}},
		{name: "no token of a disabled member",
			given: events{joined(ana, organization.Admin), joined(ben, organization.Member), changed(ben, organization.Member, organization.Disabled)},
			when: func(o *organization.Organization) (events, error) {
				return o.Mint(key, "api", ben, nil)
			},
			err: &organization.UnknownError{What: "member", ID: ben}},
		{name: "revoked twice is revoked once",
			given: events{organization.TokenMinted{TokenID: key}, organization.TokenRevoked{TokenID: key}},
			when:  func(o *organization.Organization) (events, error) { return o.Revoke(key) }},
		{name: "an unknown token",
			when: func(o *organization.Organization) (events, error) { return o.Revoke(key) },
			err:  &organization.UnknownError{What: "token", ID: key}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var o organization.Organization
			for _, e := range c.given {
				o.Apply(e)
			}
			got, err := c.when(&o)
			if diff := cmp.Diff(c.then, got); diff != "" {
				t.Errorf("events (-want +got):\n%s", diff)
			}
			if !same(err, c.err) {
				t.Errorf("error %v, want %v", err, c.err)
			}
		})
	}
}

func same(got, want error) bool {
	switch want := any(want).(type) {
	case nil:
		return got == nil
	case *organization.LastAdminError:
		var e *organization.LastAdminError
		return errors.As(got, &e) && *e == *want
	case *organization.InvalidStatusError:
		var e *organization.InvalidStatusError
		return errors.As(got, &e) && *e == *want
	case *organization.UnknownError:
		var e *organization.UnknownError
		return errors.As(got, &e) && *e == *want
	}
	return false
}

// TestRoles is the contract's table, §12.
func TestRoles(t *testing.T) {
	t.Parallel()
	type row struct{ metrics, list, create, download, downloadAll, members, addresses, audit, ops, manage bool }
	table := map[organization.Role]row{
		organization.Viewer:  {metrics: true, list: true, download: true, members: true},
		organization.Member:  {metrics: true, list: true, create: true, download: true, downloadAll: true, members: true, addresses: true},
		organization.Auditor: {metrics: true, list: true, download: true, downloadAll: true, members: true, addresses: true, audit: true, ops: true},
		organization.Admin: {metrics: true, list: true, create: true, download: true, downloadAll: true, members: true, addresses: true,
			audit: true, ops: true, manage: true},
		"stranger": {},
	}
	for role, want := range table {
		got := row{
			metrics: role.Allows(organization.ScopeMetricsRead), list: role.Allows(organization.ScopeReportsRead),
			create: role.Allows(organization.ScopeReportsCreate), download: role.Allows(organization.ScopeReportsDownload),
			downloadAll: role.DownloadsAll(), members: role.Allows(organization.ScopeMembersRead), addresses: role.SeesAddresses(),
			audit: role.Allows(organization.ScopeAuditRead), ops: role.Allows(organization.ScopeOpsRead),
			manage: role.Allows(organization.ScopeAdmin),
		}
		if got != want {
			t.Errorf("%s: %+v, want %+v", role, got, want)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	wanted := []organization.Scope{organization.ScopeReportsRead, organization.ScopeAuditRead, "nonsense"}
	for _, c := range []struct {
		held, want []organization.Scope
	}{
		{organization.Member.Scopes(), []organization.Scope{organization.ScopeReportsRead}},
		{[]organization.Scope{organization.ScopeAdmin}, []organization.Scope{organization.ScopeReportsRead, organization.ScopeAuditRead}},
		{nil, nil},
	} {
		if diff := cmp.Diff(c.want, organization.Within(c.held, wanted)); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.held, diff)
		}
	}
}
