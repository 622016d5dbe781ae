package handlers

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// addFirstSeen adds to each finding when it was first seen, as the list of findings has it. A
// finding without a stored time, for example of a server that was removed meanwhile, has none.
func (g *Inputs) addFirstSeen(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	var assessed []uuid.UUID
	for _, i := range doc.Instances {
		if i.Assessment != nil {
			assessed = append(assessed, i.ID)
		}
	}
	if len(assessed) == 0 {
		return nil
	}
	seen, err := g.Facts.FirstSeen(ctx, in.OrganizationID, assessed)
	if err != nil {
		return err
	}
	for i := range doc.Instances {
		if instance := &doc.Instances[i]; instance.Assessment != nil {
			dated := *instance.Assessment // another build may hold the same
			dated.Results = slices.Clone(dated.Results)
			for n := range dated.Results {
				date(in.OrganizationID, instance.ID, &dated.Results[n], seen)
			}
			instance.Assessment = &dated
		}
	}
	return nil
}

// date dates what a result found. Of findings that are about the same, as of two rules
// that read alike, the first one's time stands for all.
func date(organization, instance uuid.UUID, r *snapshot.CheckResult, seen map[uuid.UUID]time.Time) {
	since := func(object string) *time.Time {
		about := analysis.Finding{InstanceID: instance, Database: r.Database, Object: object}
		if at, known := seen[analysis.FindingID(organization, r.CheckID, about, r.Status != snapshot.StatusNotAssessed, 0)]; known {
			return &at
		}
		return nil
	}
	switch {
	case r.Status == snapshot.StatusNotAssessed, r.Status == snapshot.StatusFail && len(r.Violations) == 0:
		r.FirstSeenAt = since("")
	case r.Status == snapshot.StatusFail:
		r.Violations = slices.Clone(r.Violations)
		for i := range r.Violations {
			r.Violations[i].FirstSeenAt = since(r.Violations[i].Object)
		}
	}
}
