package commands

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/alerting/people"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/rule"
	"muster/eventstore"
	"muster/internal/accounts"
)

// CreateOrganization makes a further organization; admin may be nil, and then
// a setup link makes its first administrator. Errors: *usecase.RuleError,
// *accounts.Refusal with weak_password or member_exists.
func (s *Service) CreateOrganization(ctx context.Context, name string, demo bool, admin *NewMember) (accounts.Organization, *accounts.Member, usecase.Mark, error) {
	var (
		hash string
		f    founded
	)
	if e := usecase.CheckName("#/organizationName", name); e != nil {
		return accounts.Organization{}, nil, usecase.Mark{}, usecase.FieldErrors([]rule.Broken{*e})
	}
	if admin != nil {
		if err := admin.check(); err != nil {
			return accounts.Organization{}, nil, usecase.Mark{}, err
		}
		var err error
		if hash, err = s.Accounts.HashPassword(ctx, admin.Password, admin.Email, admin.Name, name); err != nil {
			return accounts.Organization{}, nil, usecase.Mark{}, err
		}
	}
	err := eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) (err error) {
		f, err = s.found(ctx, tx, foundation{name: name, demo: demo, admin: admin, hash: hash})
		return err
	})
	return f.organization, f.admin, f.mark, err
}

type founded struct {
	organization accounts.Organization
	admin        *accounts.Member
	mark         usecase.Mark
}

// foundation is what found builds on.
type foundation struct {
	id        uuid.UUID // uuid.Nil: a new organization
	name      string    // empty: one that exists keeps its own
	demo      bool
	admin     *NewMember // may be nil
	hash      string
	requestID string
}

// found creates an organization (id uuid.Nil), or renames the one with that id, and creates its
// administrator if one is given, with events and rows together. If there is a mail server, its
// first rule is created with it, so an alert in its first minute is sent, too.
func (s *Service) found(ctx context.Context, tx *sqlx.Tx, in foundation) (founded, error) {
	var f founded
	id, isNew := in.id, in.id == uuid.Nil
	if isNew {
		id = usecase.NewID()
	}
	var person accounts.Member
	actor := usecase.Actor{OrganizationID: id, Component: "setup", RequestID: in.requestID}
	if in.admin != nil {
		person = s.person(id, *in.admin, organization.Active)
		f.admin = &person
	}
	var is organization.Settings
	mark, err := s.decideOrganization(ctx, tx, actor, func(o *organization.Organization) ([]organization.Event, error) {
		events := o.Create(in.demo)
		if !isNew {
			var renamed []organization.Event
			var err error
			if is, renamed, err = s.called(ctx, tx, id, in.name); err != nil {
				return nil, err
			}
			events = append(events, renamed...)
		}
		if in.admin == nil {
			return events, nil
		}
		joined, err := o.Join(person.ID, in.admin.Role)
		return append(events, joined...), err
	}, func([]organization.Event) (err error) {
		if isNew {
			f.organization, err = s.Accounts.InsertOrganization(ctx, tx, id, in.name, in.demo)
		} else {
			f.organization, err = s.Accounts.UpdateSettings(ctx, tx, id, is)
		}
		if err != nil {
			return err
		}
		if in.admin == nil {
			return nil
		}
		return s.Accounts.InsertMember(ctx, tx, person, in.hash)
	})
	f.mark = mark
	if err != nil || !s.Mails || f.organization.Demo {
		return f, err
	}
	begun, err := s.BeginNotificationsIn(ctx, tx, id)
	if begun.Position > mark.Position {
		f.mark = begun
	}
	return f, err
}

// called are the settings of an organization that exists, under another name where
// one is given, and what that changes.
func (s *Service) called(ctx context.Context, tx *sqlx.Tx, id uuid.UUID, name string) (organization.Settings, []organization.Event, error) {
	o, err := s.Accounts.LockOrganization(ctx, tx, id)
	if err != nil {
		return organization.Settings{}, nil, err
	}
	var c organization.ChangeSettings
	if name != "" {
		c.Name = &name
	}
	is, events := o.Settings().Change(c)
	return is, events, nil
}

// SetUp is what a person enters behind a setup link.
type SetUp struct {
	Token            string
	Email            string
	Name             string
	Password         string
	OrganizationName string // an organization that exists is renamed; empty: it keeps its name
	Demo             bool   // of a new organization
	RequestID        string
}

// SetUp creates the first administrator, in a new organization or in the link's, which then
// gets the given name. Errors: *accounts.Refusal with setup_closed, forbidden (the link is not
// valid) or weak_password; *usecase.RuleError.
func (s *Service) SetUp(ctx context.Context, in SetUp) (accounts.Member, usecase.Mark, error) {
	admin := NewMember{Email: in.Email, Name: in.Name, Role: organization.Admin, Password: in.Password}
	if err := admin.check(); err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	required, err := s.Accounts.SetupRequired(ctx)
	if err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	var hash string
	if required { // else the link is refused below, and no hash is worth its second
		if hash, err = s.Accounts.HashPassword(ctx, in.Password, in.Email, in.Name, in.OrganizationName); err != nil {
			return accounts.Member{}, usecase.Mark{}, err
		}
	}
	var f founded
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error {
		id, err := s.Accounts.TakeSetupToken(ctx, tx, in.Token)
		if err != nil {
			return err
		}
		name := strings.TrimSpace(in.OrganizationName)
		if e := usecase.CheckName("#/organizationName", name); e != nil && (id == uuid.Nil || name != "") {
			return usecase.FieldErrors([]rule.Broken{*e})
		}
		f, err = s.found(ctx, tx, foundation{
			id: id, name: name, demo: in.Demo, admin: &admin, hash: hash, requestID: in.RequestID,
		})
		return err
	})
	if err != nil {
		return accounts.Member{}, usecase.Mark{}, err
	}
	return *f.admin, f.mark, nil
}

// EnsureAdmin makes an administrator where the installation has none at all, in
// the organization of that name or a new one, and says whether it did. Replicas
// may call it together. Errors: *usecase.RuleError, *accounts.Refusal with weak_password or
// member_exists.
func (s *Service) EnsureAdmin(ctx context.Context, organizationName, email, password string) (created bool, err error) {
	required, err := s.Accounts.SetupRequired(ctx)
	if err != nil || !required {
		return false, err
	}
	name, _, _ := strings.Cut(email, "@")
	admin := NewMember{Email: email, Name: name, Role: organization.Admin, Password: password}
	if err := admin.check(); err != nil {
		return false, err
	}
	hash, err := s.Accounts.HashPassword(ctx, password, email)
	if err != nil {
		return false, err
	}
	err = eventstore.Transact(ctx, s.DB, func(tx *sqlx.Tx) error {
		if created, err = s.Accounts.LockSetup(ctx, tx); err != nil || !created {
			return err
		}
		id, err := s.Accounts.OrganizationNamed(ctx, tx, organizationName)
		if err != nil {
			return err
		}
		_, err = s.found(ctx, tx, foundation{id: id, name: organizationName, admin: &admin, hash: hash})
		return err
	})
	return created && err == nil, err
}

// ChangeOrganization is what changes about the settings; nil stays.
type ChangeOrganization struct {
	organization.ChangeSettings
	// Seen are the digests of the settings on which the change is based, one of which must be
	// in force; nil: any settings.
	Seen []string
}

// ChangeOrganization changes the organization's settings and returns it. A
// report that is Ready keeps the retention that was in force then. Errors:
// *usecase.RuleError with out_of_range, invalid_parameter or precondition_failed.
func (s *Service) ChangeOrganization(ctx context.Context, actor usecase.Actor, c ChangeOrganization) (accounts.Organization, usecase.Mark, error) {
	if err := CheckSettings(c.ChangeSettings); err != nil {
		return accounts.Organization{}, usecase.Mark{}, err
	}
	if c.Name != nil {
		name := strings.TrimSpace(*c.Name)
		c.Name = &name
	}
	var o accounts.Organization
	mark, err := s.Transact(ctx, func(tx *sqlx.Tx) (usecase.Mark, error) {
		var was, is organization.Settings
		return s.decideOrganization(ctx, tx, actor, func(*organization.Organization) (events []organization.Event, err error) {
			if o, err = s.Accounts.LockOrganization(ctx, tx, actor.OrganizationID); err != nil {
				return nil, err
			}
			was = o.Settings()
			if c.Seen != nil && !slices.Contains(c.Seen, was.Digest()) {
				return nil, &usecase.RuleError{Code: "precondition_failed",
					Detail: "The settings have changed since you read them. Read them again and repeat your change."}
			}
			is, events = was.Change(c.ChangeSettings)
			return events, nil
		}, func([]organization.Event) (err error) {
			if o, err = s.Accounts.UpdateSettings(ctx, tx, actor.OrganizationID, is); err != nil {
				return err
			}
			if was.SessionDetail != is.SessionDetail && is.SessionDetail == organization.DetailOff {
				if err := s.Texts.DropPeople(ctx, tx, actor.OrganizationID); err != nil {
					return err
				}
				if err := people.Drop(ctx, tx, actor.OrganizationID); err != nil {
					return err
				}
			}
			if was.StatementTexts == is.StatementTexts || is.StatementTexts != organization.TextsOff {
				return nil
			}
			return s.Texts.DropTexts(ctx, tx, actor.OrganizationID)
		})
	})
	return o, mark, err
}

// Bounds of the settings.
const (
	maxReportRetentionDays = 365
	maxInputsRetentionDays = 3650
	maxDueDays             = 3650
	maxProtectedTags       = 100
	maxMinutes             = 24 * 60
	maxPercent             = 100
)

// CheckSettings returns a *usecase.RuleError with every rule that a change breaks.
func CheckSettings(c organization.ChangeSettings) error {
	var broken []rule.Broken
	if c.Name != nil {
		if e := usecase.CheckName("#/name", *c.Name); e != nil {
			broken = append(broken, *e)
		}
	}
	for _, number := range []struct {
		pointer string
		value   *int
		most    int
	}{
		{"#/reportRetentionDays", c.ReportRetentionDays, maxReportRetentionDays},
		{"#/inputsRetentionDays", c.InputsRetentionDays, maxInputsRetentionDays},
		{"#/dueDays/critical", c.DueCritical, maxDueDays},
		{"#/dueDays/high", c.DueHigh, maxDueDays},
		{"#/dueDays/medium", c.DueMedium, maxDueDays},
		{"#/dueDays/low", c.DueLow, maxDueDays},
		{"#/watch/silentMinutes", c.SilentMinutes, maxMinutes},
		{"#/watch/volumePercent", c.VolumePercent, maxPercent},
		{"#/watch/lockWaitMinutes", c.LockWaitMinutes, maxMinutes},
		{"#/watch/wraparoundPercent", c.WraparoundPercent, maxPercent},
	} {
		if number.value != nil && (*number.value < 1 || *number.value > number.most) {
			broken = append(broken, rule.Broken{Pointer: number.pointer, Code: "out_of_range",
				Detail: fmt.Sprintf("must be 1 to %d", number.most), Params: map[string]any{"min": 1, "max": number.most}})
		}
	}
	if c.PaperSize != nil && *c.PaperSize != "A4" && *c.PaperSize != "Letter" {
		broken = append(broken, rule.Broken{Pointer: "#/paperSize", Code: "invalid_parameter", Detail: "must be A4 or Letter"})
	}
	if c.StatementTexts != nil && *c.StatementTexts != organization.TextsOff && *c.StatementTexts != organization.TextsNormalized {
		broken = append(broken, rule.Broken{Pointer: "#/statementTexts", Code: "invalid_parameter", Detail: "must be off or normalized"})
	}
	if c.SessionDetail != nil && *c.SessionDetail != organization.DetailOff && *c.SessionDetail != organization.DetailOn {
		broken = append(broken, rule.Broken{Pointer: "#/sessionDetail", Code: "invalid_parameter", Detail: "must be off or on"})
	}
	if c.AdvisoryLocks != nil && *c.AdvisoryLocks != organization.WatchOff && *c.AdvisoryLocks != organization.WatchOn {
		broken = append(broken, rule.Broken{Pointer: "#/watch/advisoryLocks", Code: "invalid_parameter", Detail: "must be off or on"})
	}
	if c.ExceptionApproval != nil && *c.ExceptionApproval != organization.ApprovalAny && *c.ExceptionApproval != organization.ApprovalAnother {
		broken = append(broken, rule.Broken{Pointer: "#/exceptionApproval", Code: "invalid_parameter", Detail: "must be any or another"})
	}
	if c.Catalog != nil && *c.Catalog != organization.CatalogAll && *c.Catalog != organization.CatalogSpecification {
		broken = append(broken, rule.Broken{Pointer: "#/catalog", Code: "invalid_parameter", Detail: "must be all or specification"})
	}
	return usecase.FieldErrors(append(broken, checkProtectedTags(c.ProtectedTags)...))
}

func checkProtectedTags(keys *[]string) (broken []rule.Broken) {
	if keys == nil {
		return nil
	}
	if len(*keys) > maxProtectedTags {
		broken = append(broken, rule.Broken{Pointer: "#/protectedTags", Code: "too_many_items", Detail: fmt.Sprintf("has %d keys; at most %d are allowed", len(*keys), maxProtectedTags),
			Params: map[string]any{"max": maxProtectedTags}})
	}
	for i, key := range *keys {
		if !fleet.ValidTagKey(key) {
			broken = append(broken, rule.Broken{Pointer: fmt.Sprintf("#/protectedTags/%d", i), Code: "invalid_name", Detail: fleet.TagKeyRule})
		}
	}
	return broken
}
