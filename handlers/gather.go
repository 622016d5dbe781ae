package handlers

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	domain "muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/report"
	"muster/domain/timegrid"
	"muster/eventstore"
	"muster/handlers/gather/daily"
	"muster/handlers/gather/databases"
	"muster/handlers/gather/servicerecords"
	"muster/handlers/gather/standing"
	"muster/internal/accounts"
	"muster/internal/assessment"
	"muster/internal/assessment/catalogue"
	"muster/internal/assessment/feed"
	"muster/internal/assessment/logged"
	"muster/internal/concurrency/supervise"
	"muster/internal/engine"
	"muster/internal/files/blobs"
	"muster/internal/measurements"
	"muster/internal/proof/attest"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
	"muster/projections"
	"muster/projections/alerts"
	"muster/projections/exceptions"
	"muster/projections/fleet"
	"muster/projections/health"
	"muster/projections/history"
)

// maxAge is the maximum age of facts: older ones are assessed again.
const maxAge = 24 * time.Hour

// assessAtOnce bounds the servers that one build looks at at the same time.
const assessAtOnce = 8

// Assessor looks at servers; *collect.Collector is one.
type Assessor interface {
	// Fresh returns an assessment that reached the server no longer than maxAge
	// ago, or what a look just now gives. A server that cannot be reached is no
	// error: the assessment says so.
	Fresh(ctx context.Context, organization, instance uuid.UUID, maxAge time.Duration) (*assessment.Kept, error)
}

// Measurements is how busy the organization's hosts were, how large they are, and what
// sessions did; *pgstore.Store is one.
type Measurements interface {
	Utilization(ctx context.Context, organization uuid.UUID, hosts measurements.HostScope, w timegrid.Window) (measurements.Utilization, error)
	Machines(ctx context.Context, organization uuid.UUID, hosts measurements.HostScope, since time.Time, most int) ([]measurements.Machine, error)
	WaitEvents(ctx context.Context, organization uuid.UUID, engine domain.Engine, scope domain.Scope, w timegrid.Window) (measurements.WaitSums, error)
	Connections(ctx context.Context, organization uuid.UUID, engine domain.Engine, databases []uuid.UUID, now time.Time) (measurements.OpenConnections, error)
	servicerecords.Measurements
}

// Inputs is the Gatherer of the program.
type Inputs struct {
	DB           *sqlx.DB // whom alerts name is read from it
	Events       *eventstore.Store
	Fleet        *fleet.Reader
	Facts        *assessment.Store
	Assessor     Assessor
	Logged       *logged.Reader // the log's record of assessments
	Keys         Keys
	Accounts     *accounts.Store
	History      *history.Reader
	Exceptions   *exceptions.Reader
	Health       *health.Reader
	Alerts       *alerts.Reader
	Measurements Measurements
	Days         *daily.Reader
	Waiter       projections.Waiter
	Blobs        *blobs.Store
	Catalogue    *catalogue.Catalogue
	Feed         feed.Source
	PublicURL    string
	Now          func() time.Time
}

var _ Gatherer = (*Inputs)(nil)

// part is how one report.Part is added to a document.
type part struct {
	name report.Part
	add  func(context.Context, Gathering, *snapshot.Document) error
}

// parts has the parts that are gathered one after the other, in their order. Servers are
// assessed first, if their facts are too old. The log's head and the instant of the document
// come after every fact.
func (g *Inputs) parts(known *feed.Feed) []part {
	return []part{
		{report.PartOrganization, g.addOrganization},
		{report.PartInstances, g.addInstances},
		{report.PartChecks, g.addChecks},
		{report.PartAssessments, g.addAssessments},
		{report.PartLogged, g.bind},
		{report.PartFirstSeen, g.addFirstSeen},
		{report.PartHead, g.addInstant},
		{report.PartKeys, g.addKeys},
		{report.PartHistory, g.addHistory},
		{report.PartRisks, g.addRisks},
		{report.PartExceptions, g.addExceptions},
		{report.PartOpenAlerts, g.addOpenAlerts},
		{report.PartAlerts, g.addAlerts},
		{report.PartScores, g.addScores},
		{report.PartUtilization, g.addUtilization},
		{report.PartTuning, g.addTuning},
		{report.PartAlertRecords, g.addAlertRecords},
		{report.PartServer, g.addServer},
		{report.PartDay, g.addDay},
		{report.PartServiceRecords, g.addServiceRecords},
		{report.PartVulnerabilities, vulnerabilities(known)},
	}
}

// Gather assembles the document, which is not normalized, from the parts that its kind names. Errors: *SourceError,
// *AlteredFactsError, *NoClassificationError, *report.UnknownKindError.
func (g *Inputs) Gather(ctx context.Context, in Gathering) (snapshot.Document, error) {
	kind, err := report.Find(in.Queued.Kind)
	if err != nil {
		return snapshot.Document{}, err
	}
	known, doc, err := g.begin(ctx, in)
	if err != nil {
		return snapshot.Document{}, err
	}
	// The inputs of the report before are as large as these, and reading them takes as
	// long as all else: both are done at once.
	var previous *snapshot.Previous
	within, cancel := context.WithCancel(ctx)
	group, before := supervise.WithContext(within)
	defer func() {
		cancel()
		_ = group.Wait()
	}()
	if kind.Gathers(report.PartPrevious) {
		group.Go(func() (err error) {
			previous, err = g.previous(before, in)
			return err
		})
	}
	if err := addAll(within, in, &doc, g.parts(known), kind.Gathers); err != nil {
		return snapshot.Document{}, err
	}
	if err := group.Wait(); err != nil {
		return snapshot.Document{}, &SourceError{What: string(report.PartPrevious), Err: err}
	}
	doc.Previous = previous
	dropVerifications(&doc, kind.Gathers(report.PartVerifications))
	if kind.Classified {
		if err := classified(doc); err != nil {
			return snapshot.Document{}, err
		}
	}
	return doc, nil
}

// addServer adds what is known of a scorecard's server beside its checks and measurements.
func (g *Inputs) addServer(ctx context.Context, in Gathering, doc *snapshot.Document) (err error) {
	if len(doc.Instances) > 0 {
		source := serverfacts.Source{DB: g.DB, Facts: g.Facts, Fleet: g.Fleet, Accounts: g.Accounts, Measurements: g.Measurements}
		doc.Server, err = source.Of(ctx, in.OrganizationID, doc.Instances[0], doc.AsOf)
	}
	return err
}

// begin is the document before anything is looked at.
func (g *Inputs) begin(ctx context.Context, in Gathering) (known *feed.Feed, doc snapshot.Document, err error) {
	known, err = g.Feed.Current(ctx) // once, so the feed that judges is the feed that is named
	if err != nil {
		return nil, snapshot.Document{}, &SourceError{What: "the feed", Err: err}
	}
	doc = snapshot.Document{
		Schema: snapshot.SchemaVersion, Kind: string(in.Queued.Kind), ReportID: in.ReportID,
		ScopeLabel: in.Queued.ScopeLabel, RequestedAt: in.RequestedAt, PublicURL: g.PublicURL,
		Feed: known.Identity(), Catalogue: g.Catalogue.Identity(),
	}
	if s := in.Queued.Scope; s.From != nil && s.To != nil {
		doc.Window = &snapshot.Window{From: *s.From, To: *s.To}
	}
	return known, doc, nil
}

// vulnerabilities adds those of the feed, for the versions that were found.
func vulnerabilities(known *feed.Feed) func(context.Context, Gathering, *snapshot.Document) error {
	return func(_ context.Context, _ Gathering, doc *snapshot.Document) error {
		standing.Versions(known, doc)
		return nil
	}
}

// addAll adds the wanted parts in their order.
func addAll(ctx context.Context, in Gathering, doc *snapshot.Document, parts []part, wanted func(report.Part) bool) error {
	for _, part := range parts {
		if !wanted(part.name) {
			continue
		}
		if err := part.add(ctx, in, doc); err != nil {
			return &SourceError{What: string(part.name), Err: err}
		}
	}
	return nil
}

// dropVerifications keeps only the queries of checks that verify an object in the document: all
// queries would be a third of a small document. A kind that does not gather verifications has
// none.
func dropVerifications(doc *snapshot.Document, gathered bool) {
	verified := map[string]bool{}
	if gathered {
		for _, i := range doc.Instances {
			if i.Assessment == nil {
				continue
			}
			for _, r := range i.Assessment.Results {
				verified[r.CheckID] = verified[r.CheckID] || len(r.Violations) > 0
			}
		}
	}
	for i := range doc.Checks {
		if c := &doc.Checks[i]; !verified[c.ID] {
			c.Verify = nil
		}
	}
}

// classified is the precondition of a report on sensitive data.
func classified(doc snapshot.Document) error {
	databases := 0
	for _, i := range doc.Instances {
		for _, db := range i.Databases {
			if db.Classification != nil && db.Classification.Status == snapshot.ClassificationCompleted {
				return nil
			}
			databases++
		}
	}
	return &NoClassificationError{Databases: databases}
}

func (g *Inputs) addOrganization(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	o, ok, err := g.Accounts.Organization(ctx, in.OrganizationID)
	if err != nil {
		return err
	}
	if !ok {
		return fmt.Errorf("no organization %s", in.OrganizationID)
	}
	names, err := g.Accounts.Names(ctx, in.OrganizationID, []uuid.UUID{in.Queued.RequesterID})
	if err != nil {
		return err
	}
	due := snapshot.BySeverity(o.Settings().DueDays)
	doc.Organization = snapshot.Organization{ID: o.ID, Name: o.Name, Demo: o.Demo, PaperSize: o.PaperSize, DueDays: &due}
	doc.Requester = snapshot.Person{ID: in.Queued.RequesterID, Name: names[in.Queued.RequesterID]}
	return nil
}

// addChecks defines the checks that the instances can be assessed by: those of their
// engines, and all where nothing is known of any instance.
func (g *Inputs) addChecks(_ context.Context, _ Gathering, doc *snapshot.Document) error {
	var engines []domain.Engine
	for _, i := range doc.Instances {
		if i.Engine != "" {
			engines = append(engines, domain.Engine(i.Engine))
		}
	}
	doc.Checks = g.Catalogue.Definitions(engines...)
	return nil
}

// addInstant sets the instant of the document: after every fact in it, by this worker's clock
// or by the assessor's.
func (g *Inputs) addInstant(ctx context.Context, _ Gathering, doc *snapshot.Document) error {
	head, err := g.Events.Head(ctx, nil, eventstore.Reports)
	if err != nil {
		return err
	}
	doc.Witness = snapshot.Witness{Log: string(head.Log), Position: head.Position, Hash: hex.EncodeToString(head.Hash)}
	doc.AsOf = g.Now()
	for _, i := range doc.Instances {
		if a := i.Assessment; a != nil && a.FinishedAt.After(doc.AsOf) {
			doc.AsOf = a.FinishedAt
		}
	}
	doc.AsOf = instant.Cut(doc.AsOf)
	return nil
}

// Keys is the installation's document of keys; *signing.Signing has it.
type Keys interface {
	Keys(ctx context.Context) (attest.Keys, error)
}

// addKeys keeps which document of keys there is. It is one of the inputs, so that a report
// that is built again after a rotation prints the same.
func (g *Inputs) addKeys(ctx context.Context, _ Gathering, doc *snapshot.Document) error {
	keys, err := g.Keys.Keys(ctx)
	doc.KeysFingerprint = keys.Fingerprint()
	return err
}

// waits is how often a read model is waited for, a second each.
const waits = 10

// pass waits until a read model has passed where a log ends now. The others that
// read this log may stand still.
func (g *Inputs) pass(ctx context.Context, log eventstore.Log, model string) error {
	head, err := g.Events.Head(ctx, nil, log)
	if err != nil {
		return err
	}
	for range waits {
		if g.Waiter.Wait(ctx, head.Log, head.Position, model) {
			return nil
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return fmt.Errorf("the read model of %s is behind the log %s", model, head.Log)
}

// removedMeanwhile is why an instance that the request names is not there.
const removedMeanwhile = "removed after the report was requested"

// instanceIDs are the ids of a document's instances, in their order.
func instanceIDs(doc *snapshot.Document) []uuid.UUID {
	ids := make([]uuid.UUID, len(doc.Instances))
	for i := range doc.Instances {
		ids[i] = doc.Instances[i].ID
	}
	return ids
}

// addAssessments fills in what is known of every active instance, looking at
// those where nothing is known that is recent enough.
func (g *Inputs) addAssessments(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	ids := instanceIDs(doc)
	states, err := g.Facts.States(ctx, in.OrganizationID, ids)
	if err != nil {
		return err
	}
	group, within := supervise.WithContext(ctx)
	group.SetLimit(assessAtOnce)
	for i := range doc.Instances {
		group.Go(func() error {
			instance := &doc.Instances[i]
			instance.Collected = states[instance.ID].Collected
			return g.addAssessment(within, in.OrganizationID, instance, states[instance.ID].Fed)
		})
	}
	if err := group.Wait(); err != nil {
		return err
	}
	// Behind the assessments: with each, the log recorded what was known of the databases then.
	classified, err := g.Facts.Classifications(ctx, in.OrganizationID, ids...)
	if err != nil {
		return err
	}
	for i := range doc.Instances {
		instance := &doc.Instances[i]
		known := classified[instance.ID].Databases
		switch fed := states[instance.ID].Fed; {
		case !instance.Collected && !fed, instance.NotAssessed == removedMeanwhile:
			continue
		case !instance.Collected: // a feed's data about databases that are gone since is left out
			known = slices.DeleteFunc(known, func(c assessment.DatabaseClassification) bool { return !databases.Listed(instance, c.Database) })
		}
		instance.ClassifiedSHA256 = classified[instance.ID].SHA256
		databases.Join(instance, known)
	}
	return nil
}

func (g *Inputs) addAssessment(ctx context.Context, organization uuid.UUID, instance *snapshot.Instance, fed bool) error {
	switch {
	case instance.NotAssessed == removedMeanwhile:
		return nil
	case !instance.Active:
		instance.NotAssessed = "inactive, so counted and not assessed"
	case !instance.Collected && fed:
	case !instance.Collected:
		instance.NotAssessed = unconnected(instance.Engine)
	default:
		kept, err := g.Assessor.Fresh(ctx, organization, instance.ID, maxAge)
		if err = take(instance, kept, err); err != nil && !g.forgotten(ctx, organization, instance) {
			return err
		}
	}
	if instance.Collected || !fed || !instance.Active {
		return nil
	}
	latest, err := g.Facts.LatestAssessment(ctx, organization, instance.ID)
	return take(instance, latest, err)
}

// take puts what was read of an instance into the document. Of facts that cannot be decoded
// that is their identity alone: bind says that they were altered.
func take(instance *snapshot.Instance, kept *assessment.Kept, err error) error {
	var unreadable *assessment.UnreadableError
	switch {
	case errors.As(err, &unreadable):
		kept = &assessment.Kept{Stored: unreadable.Stored}
	case err != nil || kept == nil:
		return err
	}
	instance.Assessment = kept.Assessment
	instance.Logged = &snapshot.LoggedAssessment{ID: kept.ID, At: kept.At, FactsSHA256: kept.SHA256}
	return nil
}

// forgotten says whether the connection was taken away after the build had begun:
// that is no fault, and the report says so.
func (g *Inputs) forgotten(ctx context.Context, organization uuid.UUID, instance *snapshot.Instance) bool {
	states, err := g.Facts.States(ctx, organization, []uuid.UUID{instance.ID})
	if err != nil || states[instance.ID].Collected {
		return false
	}
	instance.Collected = false
	instance.NotAssessed = "the connection was removed while the report was built"
	return true
}

// unconnected says why an instance that has no connection is not assessed.
func unconnected(name string) string {
	e := engine.Described(name)
	if e.Measured != nil { // Muster connects to them
		return "no connection is registered"
	}
	return "no assessment of it was sent, and Muster does not connect to " + e.Title
}
