package handlers_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands"
	"muster/commands/inventory"
	"muster/commands/usecase"
	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/report"
	"muster/eventstore"
	"muster/handlers"
	"muster/handlers/gather/daily"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/feed/kept"
	"muster/internal/assessment/logged"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/postgres"
	"muster/internal/report/snapshot"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/exceptions"
	"muster/projections/fleet"
	"muster/projections/health"
	"muster/projections/history"
	"muster/projections/projectionstest"
	"muster/projections/schedules"
)

// estate is a scene whose read models run and whose servers have been looked at.
type estate struct {
	*scene
	runner *projections.Runner
	facts  *assessment.Store
	key    *secrets.Ring
	mu     sync.Mutex
	looks  []uuid.UUID // servers that a gathering looked at
	sees   func(instance uuid.UUID) (snapshot.Assessment, error)
}

func newEstate(t *testing.T) *estate {
	t.Helper()
	url := pgtest.FilledURL(t, "estate", prepareReadModels)
	s := newSceneOn(t, pgtest.Connect(t, url), filepath.Join(t.TempDir(), "blobs"))
	e := &estate{scene: s, runner: newRunner(s.db, url)}
	if err := e.runner.Prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- e.runner.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	key, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	e.facts, e.key = assessment.NewStore(s.db, key), key
	if s.commands.Checks, err = catalogue.Load(); err != nil {
		t.Fatal(err)
	}
	e.sees = func(uuid.UUID) (snapshot.Assessment, error) {
		return snapshot.Assessment{Outcome: snapshot.OutcomeUnreachable, ErrorClass: "refused", Error: "refused"}, nil
	}
	return e
}

func newRunner(db *sqlx.DB, url string) *projections.Runner {
	decode := usecase.Registry().Decode
	runner := projections.NewRunner(db, url, slog.New(slog.DiscardHandler),
		history.Projection(decode), fleet.Projection(decode), exceptions.Projection(decode), alerts.Projection(decode), health.Projection(decode), schedules.Projection(decode))
	runner.Share(1)
	return runner
}

// prepareReadModels makes the empty tables with which all estates begin.
func prepareReadModels(url string) error {
	db, pool, err := postgres.Connect(context.Background(), url, postgres.PoolOptions{Name: "test"})
	if err != nil {
		return err
	}
	defer pool.Close()
	return newRunner(db, url).Prepare(context.Background())
}

// Fresh stands for the collector, with what the store knows.
func (e *estate) Fresh(ctx context.Context, organization, instance uuid.UUID, maxAge time.Duration) (*assessment.Kept, error) {
	a, err := e.facts.Reached(ctx, organization, instance, maxAge)
	if err != nil || a != nil {
		return a, err
	}
	e.mu.Lock()
	e.looks = append(e.looks, instance)
	e.mu.Unlock()
	seen, err := e.sees(instance)
	if err != nil {
		return nil, err
	}
	since, err := e.facts.Attempt(ctx, organization, instance)
	if err != nil {
		return nil, err
	}
	claim, ok, err := e.facts.ClaimSince(ctx, organization, instance, since, time.Minute)
	if err != nil || !ok {
		return nil, errors.Join(err, fmt.Errorf("claimed: %t", ok))
	}
	if err := e.facts.Record(ctx, claim, seen, nil, time.Hour, e.tell); err != nil {
		return nil, err
	}
	return e.facts.Newest(ctx, organization, instance)
}

// tell appends the event of an assessment, as the collector does.
func (e *estate) tell(tx *sqlx.Tx, kept domain.AssessmentKept) error {
	return e.tellAll(tx, []domain.Assessed{kept})
}

// tellAll is tell for what a feed sent.
func (e *estate) tellAll(tx *sqlx.Tx, told []domain.Assessed) error {
	_, err := e.commands.RecordAssessmentTx(e.t.Context(), tx, e.actor(), told...)
	return err
}

func (e *estate) wait(mark usecase.Mark) {
	e.t.Helper()
	projectionstest.Follow(e.t, e.runner, mark.Log, mark.Position)
}

func (e *estate) actor() usecase.Actor {
	return usecase.Actor{OrganizationID: e.organization, MemberID: e.ana}
}

func (e *estate) register(name string, active bool) uuid.UUID {
	e.t.Helper()
	id, mark, err := e.commands.RegisterInstance(e.t.Context(), e.actor(), inventory.Registration{
		Name: name, Engine: domain.PostgreSQL, Version: "15.3", Host: name, Active: active,
	})
	if err != nil {
		e.t.Fatal(err)
	}
	e.wait(mark)
	return id
}

func (e *estate) connect(instance uuid.UUID) {
	e.t.Helper()
	if err := e.facts.SaveCredentials(e.t.Context(), e.db, assessment.Credentials{
		Organization: e.organization, Instance: instance, Engine: domain.PostgreSQL, DSN: "postgres://x", Classify: assessment.ClassifyNames,
	}); err != nil {
		e.t.Fatal(err)
	}
}

// claim takes the right to look at a server, after whatever attempts there were.
func (e *estate) claim(instance uuid.UUID) assessment.Claim {
	e.t.Helper()
	since, err := e.facts.Attempt(e.t.Context(), e.organization, instance)
	if err != nil {
		e.t.Fatal(err)
	}
	claim, ok, err := e.facts.ClaimSince(e.t.Context(), e.organization, instance, since, time.Minute)
	if err != nil || !ok {
		e.t.Fatal(ok, err)
	}
	return claim
}

// assessed records a look at a server.
func (e *estate) assessed(instance uuid.UUID, classified ...assessment.DatabaseClassification) {
	e.t.Helper()
	claim := e.claim(instance)
	size := int64(4096)
	a := snapshot.Assessment{
		StartedAt: e.clock.Now().Add(-time.Hour), FinishedAt: e.clock.Now().Add(-time.Hour), Outcome: snapshot.OutcomeComplete,
		VersionNum: 150003, Databases: []snapshot.DatabaseFact{{Name: "sales", SizeBytes: &size}},
	}
	if err := e.facts.Record(e.t.Context(), claim, a, classified, time.Hour, e.tell); err != nil {
		e.t.Fatal(err)
	}
}

func (e *estate) inputs() *handlers.Inputs {
	e.t.Helper()
	checks, err := catalogue.Load()
	if err != nil {
		e.t.Fatal(err)
	}
	samples := pgstore.New(e.db, slog.New(slog.DiscardHandler))
	decode := usecase.Registry().Decode
	days := &daily.Reader{
		DB: e.db, Events: e.events, Decode: decode, Accounts: e.accounts, Exceptions: exceptions.NewReader(e.db),
		History: history.NewReader(e.db), Schedules: schedules.NewReader(e.db), Catalogue: checks, Feed: kept.NewStore(e.db),
		Statements: &measurements.Tiles{Store: samples}, Names: samples,
	}
	return &handlers.Inputs{
		Days: days,
		DB:   e.db, Events: e.events, Fleet: fleet.NewReader(e.db), Facts: e.facts, Logged: &logged.Reader{Facts: e.facts, Log: e.events, Decode: usecase.Registry().Decode}, Assessor: e, Keys: e.proofs.Signing, Accounts: e.accounts,
		History: history.NewReader(e.db), Exceptions: exceptions.NewReader(e.db), Health: health.NewReader(e.db),
		Alerts:       alerts.NewReader(e.db, e.events, usecase.Registry().Decode),
		Measurements: samples, Waiter: e.runner, Blobs: e.blobs, Catalogue: checks, Feed: kept.NewStore(e.db),
		PublicURL: "https://muster.example.org", Now: e.clock.Now,
	}
}

func (e *estate) gathering(kind report.Kind, scope report.Scope) handlers.Gathering {
	return handlers.Gathering{
		OrganizationID: e.organization, ReportID: uuid.New(), RequestedAt: e.clock.Now(),
		Queued: report.Queued{Kind: kind, Scope: scope, ScopeLabel: "a label", RequesterID: e.ana},
	}
}

func named(doc snapshot.Document, name string) snapshot.Instance {
	i := slices.IndexFunc(doc.Instances, func(i snapshot.Instance) bool { return i.Name == name })
	if i < 0 {
		return snapshot.Instance{}
	}
	return doc.Instances[i]
}

func TestGatherDistinguishesKnownFromUnknown(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	recent, silent, blind := e.register("recent", true), e.register("silent", true), e.register("blind", true)
	retired := e.register("retired", false)
	for _, id := range []uuid.UUID{recent, silent, retired} {
		e.connect(id)
	}
	e.assessed(recent, assessment.DatabaseClassification{Database: "sales", Classification: snapshot.Classification{Status: snapshot.ClassificationCompleted}})
	gone := uuid.New()

	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{recent, silent, blind, retired, gone}}))
	if err != nil {
		t.Fatal(err)
	}
	if len(doc.Instances) != 5 {
		t.Errorf("%d instances, want all five in scope", len(doc.Instances))
	}
	if !slices.Equal(e.looks, []uuid.UUID{silent}) {
		t.Errorf("looked at %v, want only the one without recent facts", e.looks)
	}
	if a := named(doc, "recent").Assessment; a == nil || a.VersionNum != 150003 {
		t.Errorf("recent: %+v", a)
	}
	if a := named(doc, "silent").Assessment; a == nil || a.Outcome != snapshot.OutcomeUnreachable {
		t.Errorf("silent: %+v", a)
	}
	for name, why := range map[string]string{
		"blind":                             "no connection is registered",
		"retired":                           "inactive, so counted and not assessed",
		"removed instance " + gone.String(): "removed after the report was requested",
	} {
		if i := named(doc, name); i.NotAssessed != why || i.Assessment != nil {
			t.Errorf("%s: %q %v, want %q", name, i.NotAssessed, i.Assessment, why)
		}
	}
	databases := named(doc, "recent").Databases
	if len(databases) != 1 || databases[0].Name != "sales" || databases[0].SizeBytes == nil || databases[0].Classification == nil {
		t.Errorf("databases %+v, want sales with size and classification", databases)
	}
	if len(named(doc, "recent").CVEs) == 0 || named(doc, "recent").Release == nil || len(doc.Vulnerabilities) == 0 {
		t.Error("PostgreSQL 15.3 is concerned by nothing")
	}
	if len(named(doc, "blind").CVEs) == 0 {
		t.Error("the version that an instance was registered with was not held against the feed")
	}
	if doc.Requester.Name != "Ana" || doc.Organization.Name != "Acme" || doc.PublicURL == "" || len(doc.Checks) < 15 || doc.Witness.Log != string(eventstore.Reports) {
		t.Errorf("document %+v", doc.Organization)
	}
	if doc.KeysFingerprint != e.keys().Fingerprint() {
		t.Errorf("the document of keys has the fingerprint %q, want %s", doc.KeysFingerprint, e.keys().Fingerprint())
	}
	if doc.AsOf.Before(e.clock.Now().Add(-time.Minute)) {
		t.Errorf("as of %s", doc.AsOf)
	}
}

func TestOldFactsAreRefreshed(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	id := e.register("old", true)
	old := assessment.Sent{Instance: id, Engine: domain.PostgreSQL, At: time.Now().Add(-25 * time.Hour).Truncate(time.Microsecond), Assessment: snapshot.Assessment{Outcome: snapshot.OutcomeComplete}}
	if err := e.facts.RecordSent(t.Context(), e.organization, []assessment.Sent{old}, e.tellAll); err != nil {
		t.Fatal(err)
	}
	e.connect(id)
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	if err != nil || !slices.Equal(e.looks, []uuid.UUID{id}) || doc.Instances[0].Assessment.Outcome != snapshot.OutcomeUnreachable {
		t.Errorf("looked at %v, error %v", e.looks, err)
	}
}

func TestAConnectionRemovedDuringGatherIsNoFault(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	id := e.register("leaving", true)
	e.connect(id)
	e.sees = func(instance uuid.UUID) (snapshot.Assessment, error) {
		return snapshot.Assessment{}, errors.Join(errors.New("no connection"), e.facts.Forget(context.Background(), e.db, e.organization, instance))
	}
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	if err != nil || doc.Instances[0].NotAssessed != "the connection was removed while the report was built" {
		t.Errorf("%+v %v", doc.Instances, err)
	}
	e.connect(id)
	e.sees = func(uuid.UUID) (snapshot.Assessment, error) {
		return snapshot.Assessment{}, errors.New("database away")
	}
	var source *handlers.SourceError
	if _, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); !errors.As(err, &source) {
		t.Errorf("error %v, want *SourceError", err)
	}
}

func TestTheDataInventoryNeedsACompletedClassification(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	id := e.register("crm", true)
	e.connect(id)
	var none *handlers.NoClassificationError
	for _, status := range []string{"", snapshot.ClassificationFailed, snapshot.ClassificationPartial} {
		if status != "" {
			e.assessed(id, assessment.DatabaseClassification{Database: "sales", Classification: snapshot.Classification{Status: status}})
		}
		if _, err := e.inputs().Gather(t.Context(), e.gathering(report.DataInventory, report.Scope{})); !errors.As(err, &none) {
			t.Errorf("with %q: %v, want *NoClassificationError", status, err)
		}
		if _, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{})); err != nil {
			t.Errorf("a Security report with %q: %v", status, err)
		}
	}
	e.assessed(id, assessment.DatabaseClassification{Database: "sales", Classification: snapshot.Classification{Status: snapshot.ClassificationCompleted}})
	if _, err := e.inputs().Gather(t.Context(), e.gathering(report.DataInventory, report.Scope{})); err != nil {
		t.Error(err)
	}
}

// A document uses the feed with its current updates, names it by its digest, and does not
// change with the next update. A version that differs between fleet and server is stored beside
// it.
func TestADocumentUsesTheCurrentFeed(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	id := e.register("recent", true)
	e.connect(id)
	e.sees = func(uuid.UUID) (snapshot.Assessment, error) {
		return snapshot.Assessment{Outcome: snapshot.OutcomeComplete, VersionNum: 150020, VersionText: "PostgreSQL 15.20", FinishedAt: e.clock.Now()}, nil
	}
	gather := func() snapshot.Document {
		doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{InstanceIDs: []uuid.UUID{id}}))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	before := gather()
	encoded, err := snapshot.Encode(before)
	if err != nil {
		t.Fatal(err)
	}
	o, err := kept.NewStore(e.db).Apply(t.Context(), kept.Update{Records: []feed.Record{{
		Engine: domain.PostgreSQL, ID: "CVE-2026-99999", CVSS: 7.5, Vector: "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:H", Title: "a flaw",
		Affected: []string{"15.21"}, Modified: e.clock.Now().Add(-time.Hour),
	}}, Older: true}, time.Now())
	if err != nil || len(o.Changes) != 1 {
		t.Fatal(o, err)
	}
	after := gather()
	concerned := func(doc snapshot.Document) bool {
		return slices.ContainsFunc(doc.Instances[0].CVEs, func(c snapshot.InstanceCVE) bool { return c.ID == "CVE-2026-99999" && c.Applies == snapshot.CVEOpen })
	}
	if concerned(before) || !concerned(after) || after.Feed.Digest != o.After || before.Feed.Digest != o.Before || after.Instances[0].Release.Target != "15.21" {
		t.Errorf("%+v, then %+v; %+v", before.Feed, after.Feed, after.Instances[0].Release)
	}
	if after.Instances[0].Release.RegisteredAs != "15.3" {
		t.Errorf("registered as %q", after.Instances[0].Release.RegisteredAs)
	}
	read, err := snapshot.Decode(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := snapshot.Encode(read); err != nil || !bytes.Equal(again, encoded) {
		t.Errorf("a document of before is another one: %v", err)
	}
}

// A document is on the paper that its organization has set.
func TestADocumentIsOnItsOrganizationsPaper(t *testing.T) {
	t.Parallel()
	e := newEstate(t)
	paper := "Letter"
	if _, _, err := e.commands.ChangeOrganization(t.Context(), e.actor(), commands.ChangeOrganization{ChangeSettings: organization.ChangeSettings{PaperSize: &paper}}); err != nil {
		t.Fatal(err)
	}
	doc, err := e.inputs().Gather(t.Context(), e.gathering(report.Security, report.Scope{}))
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := e.renderer().Render(&file, doc); err != nil || !bytes.Contains(file.Bytes(), []byte("/MediaBox [0 0 612.00 792.00]")) {
		t.Errorf("%q, %v: %.300q", doc.Organization.PaperSize, err, file.String())
	}
}
