package changes

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math"

	"muster/domain/fleet"
	"muster/internal/assessment/catalogue"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// score is what a look comes to by the formula of the scorecard.
func score(l Look) (fleet.InstanceAssessed, error) {
	if l.Engine == "" {
		return fleet.InstanceAssessed{}, fmt.Errorf("score an assessment of instance %s: its engine is not given", l.Instance)
	}
	checks, err := catalogue.Load()
	if err != nil {
		return fleet.InstanceAssessed{}, err
	}
	doc := snapshot.Document{
		AsOf: l.At, Checks: checks.Definitions(), Exceptions: l.Accepted, Server: l.Standing.Server,
		Instances: []snapshot.Instance{{
			ID: l.Instance, Engine: string(l.Engine), Active: true, Assessment: &l.Assessment, Release: l.Standing.Release, OpenAlerts: l.Standing.OpenAlerts,
		}},
	}
	s := analysis.HealthScore(doc, &doc.Instances[0])
	e := fleet.InstanceAssessed{InstanceID: l.Instance, AssessmentID: l.ID, At: l.At, Domains: []fleet.DomainScore{}, Changes: []fleet.Change{}}
	facts, err := json.Marshal(l.Assessment) // as it is stored
	if err != nil {
		return e, fmt.Errorf("encode an assessment: %w", err)
	}
	sum := sha256.Sum256(facts)
	e.FactsSHA256 = hex.EncodeToString(sum[:])
	if s.Known && !l.Standing.Unread {
		e.Score, e.Grade = &s.Overall, s.Grade
	}
	for _, d := range s.Domains {
		domain := fleet.DomainScore{Name: d.Name, Failed: d.Failed, Passed: d.Checks - d.Failed, NotAssessed: d.Gaps}
		if d.Known {
			points := math.Round(1000*d.Score) / 1000
			domain.Score = &points
		}
		e.Domains = append(e.Domains, domain)
	}
	return e, nil
}
