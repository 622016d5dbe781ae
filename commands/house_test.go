package commands_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/domain/team"
	"muster/eventstore"
	"muster/handlers/jobs"
	"muster/internal/accounts"
	"muster/internal/postgres"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) {
	longtest.Checks(12, 400)
	os.Exit(pgtest.Run(m))
}

// house is a service on a database of its own, with one organization and its
// administrator. Each house copies a database with both, because hashing the
// password takes 30 ms of a processor.
type house struct {
	*commands.Service
	*testing.T
	db    *sqlx.DB
	clock *clocktest.Clock
	known *fleetNames
	org   accounts.Organization
	ana   accounts.Member
	actor usecase.Actor
}

var start = time.Date(2026, 11, 20, 11, 37, 42, 0, time.UTC)

// settled are the organization and the administrator of every house.
var settled struct {
	org accounts.Organization
	ana accounts.Member
}

func newHouse(t *testing.T) *house {
	t.Helper()
	db := pgtest.Connect(t, pgtest.FilledURL(t, "house", settle))
	c := clocktest.At(start)
	known := &fleetNames{instances: map[uuid.UUID]instanceName{}}
	store := accounts.New(db, c.Now)
	h := &house{T: t, db: db, clock: c, known: known, Service: commands.New(usecase.Base{DB: db, Events: eventstore.New(db), Accounts: store, Now: c.Now}, commands.Needs{
		Instances: known, Jobs: jobs.NewQueue(db),
	})}
	h.org, h.ana = settled.org, settled.ana
	h.actor = usecase.Actor{OrganizationID: h.org.ID, MemberID: h.ana.ID, RequestID: "r-1"}
	return h
}

// settle makes the organization of every house.
func settle(database string) error {
	db, pool, err := postgres.Connect(context.Background(), database, postgres.PoolOptions{Name: "test"})
	if err != nil {
		return err
	}
	defer pool.Close()
	now := clocktest.At(start).Now
	service := commands.New(usecase.Base{DB: db, Events: eventstore.New(db), Accounts: accounts.New(db, now), Now: now}, commands.Needs{})
	settled.org, settled.ana, err = found(service, "Example")
	return err
}

func (h *house) organization(name string) (accounts.Organization, accounts.Member) {
	h.Helper()
	o, m, err := found(h.Service, name)
	if err != nil {
		h.Fatal(err)
	}
	return o, m
}

func found(service *commands.Service, name string) (accounts.Organization, accounts.Member, error) {
	admin := &commands.NewMember{Email: name + "@example.org", Name: "Ana of " + name, Role: organization.Admin, Password: password}
	o, m, _, err := service.CreateOrganization(context.Background(), name, false, admin)
	if err != nil {
		return o, accounts.Member{}, err
	}
	return o, *m, nil
}

const password = "a long enough sentence"

// member invites a person, which is enough to receive reports.
func (h *house) member(email string) accounts.Member {
	h.Helper()
	m, _, _, _, err := h.InviteMember(h.Context(), h.actor, commands.NewMember{Email: email, Name: email, Role: organization.Member})
	if err != nil {
		h.Fatal(err)
	}
	return m
}

// as is another member's actor.
func (h *house) as(m accounts.Member) usecase.Actor {
	return usecase.Actor{OrganizationID: m.OrganizationID, MemberID: m.ID}
}

// tx runs f and commits.
func (h *house) tx(f func(tx *sqlx.Tx) error) {
	h.Helper()
	tx, err := h.db.BeginTxx(h.Context(), nil)
	if err != nil {
		h.Fatal(err)
	}
	defer tx.Rollback()
	if err := f(tx); err != nil {
		h.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		h.Fatal(err)
	}
}

// count counts rows.
func (h *house) count(query string, args ...any) int {
	h.Helper()
	var n int
	if err := h.db.GetContext(h.Context(), &n, "SELECT count(*) FROM "+query, args...); err != nil {
		h.Fatal(err)
	}
	return n
}

// types are the wire names of a stream's events.
func (h *house) types(stream uuid.UUID) []string {
	h.Helper()
	var types []string
	err := h.db.SelectContext(h.Context(), &types, `SELECT type FROM events WHERE stream_id = $1 ORDER BY version`, stream)
	if err != nil {
		h.Fatal(err)
	}
	return types
}

// last decodes the data of the last event of a stream.
func (h *house) last(stream uuid.UUID, into any) {
	h.Helper()
	var data []byte
	err := h.db.GetContext(h.Context(), &data, `SELECT data FROM events WHERE stream_id = $1 ORDER BY version DESC LIMIT 1`, stream)
	if err != nil {
		h.Fatal(err)
	}
	h.decode(data, into)
}

func (h *house) decode(data []byte, into any) {
	h.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		h.Fatal(err)
	}
}

// request asks for a Security report of everything.
func (h *house) request(actor usecase.Actor, recipients ...uuid.UUID) commands.RequestedReport {
	h.Helper()
	out, err := h.RequestReport(h.Context(), actor, commands.RequestReport{Kind: report.Security, RecipientIDs: recipients})
	if err != nil {
		h.Fatal(err)
	}
	return out
}

// ready builds a report to the end.
func (h *house) ready(id uuid.UUID) report.Ready {
	h.Helper()
	var recorded report.Ready
	h.tx(func(tx *sqlx.Tx) error {
		if _, err := h.StartBuild(h.Context(), tx, h.org.ID, id, "w1", 1, ""); err != nil {
			return err
		}
		_, err := h.MarkReady(h.Context(), tx, h.org.ID, id, built(id), func(r report.Ready) error {
			recorded = r
			return nil
		})
		return err
	})
	return recorded
}

const digest = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

func built(id uuid.UUID) report.Ready {
	return report.Ready{
		AsOf: start, InputsSHA256: digest, InputsKey: "inputs/" + id.String(), PDFSHA256: digest, PDFKey: "pdf/" + id.String(),
		FileName: "security-2026-11-20.pdf", SizeBytes: 1, Pages: 1, RetentionSeconds: 3600,
	}
}

// fleetNames answers what the fleet's projection would, at once.
type fleetNames struct {
	mu        sync.Mutex
	instances map[uuid.UUID]instanceName
}

type instanceName struct {
	organization uuid.UUID
	name         string
	databases    map[uuid.UUID]string
	tags         fleet.Tags
}

func (f *fleetNames) addInstance(organization uuid.UUID, name string, databases ...string) (instance uuid.UUID, ids []uuid.UUID) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := instanceName{organization: organization, name: name, databases: map[uuid.UUID]string{}}
	for _, d := range databases {
		id := uuid.New()
		i.databases[id] = d
		ids = append(ids, id)
	}
	instance = uuid.New()
	f.instances[instance] = i
	return instance, ids
}

func (f *fleetNames) InstanceNames(_ context.Context, organization uuid.UUID, ids []uuid.UUID) (map[uuid.UUID]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make(map[uuid.UUID]string)
	for _, id := range ids {
		if i, ok := f.instances[id]; ok && i.organization == organization {
			names[id] = i.name
		}
	}
	return names, nil
}

func (f *fleetNames) TagsOf(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]fleet.Tags, error) {
	return nil, nil
}

func (f *fleetNames) SelectedNames(_ context.Context, organization uuid.UUID, selector team.Selector) (map[uuid.UUID]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := make(map[uuid.UUID]string)
	for id, i := range f.instances {
		if i.organization == organization && selector.Matches(id, i.tags) {
			names[id] = i.name
		}
	}
	return names, nil
}

func (f *fleetNames) World(_ context.Context, organization uuid.UUID, in, acting []team.Selector) (team.World, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	world := team.World{}
	for id, i := range f.instances {
		if i.organization == organization && team.Owner(in, id, i.tags) >= 0 {
			world[id] = team.Owner(acting, id, i.tags) >= 0
		}
	}
	return world, nil
}

// tag gives an instance a tag.
func (f *fleetNames) tag(instance uuid.UUID, key, value string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.instances[instance]
	i.tags = i.tags.Apply(fleet.InstanceTagged{Set: map[string]string{key: value}})
	f.instances[instance] = i
}

func (f *fleetNames) DatabaseOn(_ context.Context, organization, instance, database uuid.UUID) (string, bool, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i := f.instances[instance]
	name, ok := i.databases[database]
	return name, ok && i.organization == organization, nil
}

// codes are the rules that a *RuleError names, with their places.
func codes(e *usecase.RuleError) []string {
	got := []string{e.Code}
	for _, f := range e.Fields {
		got = append(got, fmt.Sprintf("%s %s", f.Pointer, f.Code))
	}
	return got
}
