package handlers

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/internal/accounts"
	"muster/internal/files/blobs"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
	"muster/projections/fleet"
	"muster/projections/history"
)

// pageSize is how many rows of a read model are fetched at once.
const pageSize = 500

// addInstances lists the servers in scope, those that are gone since the
// request by their ids.
func (g *Inputs) addInstances(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	scope := in.Queued.Scope
	for page := 1; ; page++ {
		found, total, err := g.Fleet.Instances(ctx, fleet.Query{
			Organization: in.OrganizationID, IDs: scope.InstanceIDs, Page: page, Size: pageSize,
		})
		if err != nil {
			return err
		}
		for _, i := range found {
			instance := snapshot.Instance{
				ID: i.ID, Name: i.Name, Engine: string(i.Engine), Version: i.Version, Host: i.Host,
				Active: i.Active, CreatedAt: i.CreatedAt,
			}
			doc.Instances = append(doc.Instances, instance)
		}
		if len(found) == 0 || int64(len(doc.Instances)) >= total {
			break
		}
	}
	ids := instanceIDs(doc)
	if err := g.addOwners(ctx, in.OrganizationID, ids, doc.Instances); err != nil {
		return err
	}
	databases, err := g.Fleet.DatabasesOf(ctx, in.OrganizationID, ids)
	if err != nil {
		return err
	}
	for i := range doc.Instances {
		for _, db := range databases[ids[i]] {
			doc.Instances[i].Databases = append(doc.Instances[i].Databases, snapshot.Database{ID: db.ID, Name: db.Name})
		}
	}
	for _, id := range scope.InstanceIDs {
		if !slices.ContainsFunc(doc.Instances, func(i snapshot.Instance) bool { return i.ID == id }) {
			doc.Instances = append(doc.Instances, snapshot.Instance{
				ID: id, Name: "removed instance " + id.String(), NotAssessed: removedMeanwhile,
			})
		}
	}
	if scope.DatabaseID != nil {
		doc.Database = databaseRef(doc, *scope.DatabaseID)
	}
	return nil
}

// retentionTag is the key of the tag that says how long the data of an instance is kept.
const retentionTag = "retention"

// addOwners notes the teams that own the instances now, and how long their data is kept.
func (g *Inputs) addOwners(ctx context.Context, organization uuid.UUID, ids []uuid.UUID, instances []snapshot.Instance) error {
	teams, err := g.Accounts.Teams(ctx, organization)
	if err != nil {
		return err
	}
	tags, err := g.Fleet.TagsOf(ctx, organization, ids)
	if err != nil {
		return err
	}
	owner := accounts.Ownership(teams)
	for i, id := range ids {
		instances[i].Retention = tags[id][retentionTag].Value
		if t := owner(id, tags[id]); t != nil {
			instances[i].Owner = &snapshot.Owner{ID: t.ID, Name: t.Name}
		}
	}
	return nil
}

func databaseRef(doc *snapshot.Document, id uuid.UUID) *snapshot.DatabaseRef {
	for _, i := range doc.Instances {
		for _, db := range i.Databases {
			if db.ID == id {
				return &snapshot.DatabaseRef{ID: id, Name: db.Name}
			}
		}
	}
	return &snapshot.DatabaseRef{ID: id, Name: "removed database " + id.String()}
}

// previousPages bounds the search for the report before: among the last 200 of
// the kind.
const previousPages = 10

// previous finds the last report of the same kind and scope whose inputs still exist, and its
// findings; nil if there is none. A scorecard's scope is its instance and database; the window
// moves.
//
// If the store does not return the inputs, the first attempt fails, because a moment later it
// may. From then on the report does without: a file that can never be read would otherwise
// prevent every later report of its scope. If the whole store is away, the build ends with that
// error when it writes.
func (g *Inputs) previous(ctx context.Context, in Gathering) (*snapshot.Previous, error) {
	q := history.Query{
		Organization: in.OrganizationID, Kinds: []report.Kind{in.Queued.Kind}, Size: 20,
		Statuses: []report.Status{report.StatusReady, report.StatusExpired},
	}
	for q.Page = 1; q.Page <= previousPages; q.Page++ {
		rows, _, err := g.History.Page(ctx, q, g.Now())
		if err != nil {
			return nil, err
		}
		for _, row := range rows {
			if row.ID == in.ReportID || row.File == nil || row.InputsErasedAt != nil || !sameScope(row.Scope, in.Queued.Scope) {
				continue
			}
			before, err := g.found(ctx, row)
			var away *blobs.UnavailableError
			switch {
			case errors.As(err, &away) && in.Again:
				return nil, nil
			case err != nil || before != nil:
				return before, err
			}
		}
		if len(rows) < q.Size {
			return nil, nil
		}
	}
	return nil, nil
}

// found reads the findings of a report; nil if its inputs are gone, damaged, changed, or of a
// version of Muster that this one does not read: without a proof they are not used for the
// comparison.
func (g *Inputs) found(ctx context.Context, row history.ReportRow) (*snapshot.Previous, error) {
	inputs, digest, err := g.Blobs.ReadInputs(ctx, row.File.InputsKey)
	var gone *blobs.MissingFileError
	var damaged *blobs.DamagedFileError
	if errors.As(err, &gone) || errors.As(err, &damaged) || err == nil && digest != row.File.InputsSHA256 {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	decode := snapshot.DecodeFindings
	if kind, err := report.Find(row.Kind); err != nil || kind.Gathers(report.PartRisks) {
		decode = snapshot.Decode
	}
	before, err := decode(inputs)
	if err != nil {
		return nil, nil //nolint:nilerr // another version of Muster wrote it
	}
	open, accepted := analysis.Keys(before)
	return &snapshot.Previous{ReportID: row.ID, AsOf: before.AsOf, Findings: open, Accepted: accepted, Risks: riskScores(before)}, nil
}

func sameScope(a, b report.Scope) bool {
	if (a.DatabaseID == nil) != (b.DatabaseID == nil) || a.DatabaseID != nil && *a.DatabaseID != *b.DatabaseID {
		return false
	}
	if len(a.Tags) > 0 || len(b.Tags) > 0 { // what has them may be another set by now
		return slices.Equal(a.Tags.Words(), b.Tags.Words())
	}
	return slices.Equal(a.InstanceIDs, b.InstanceIDs)
}
