package notify_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/commands/notifying"
	"muster/commands/usecase"
	"muster/domain/alert"
	domain "muster/domain/fleet"
	"muster/domain/notification"
	"muster/eventstore"
	"muster/internal/notify/channel/webhook"
)

// assessed records that an assessment found something new.
func (s *scene) assessed(instance uuid.UUID, found ...domain.NewFindings) {
	s.Helper()
	must(s.T, eventstore.Transact(s.Context(), s.db, func(tx *sqlx.Tx) error {
		_, err := s.commands.RecordAssessmentTx(s.Context(), tx, usecase.Actor{OrganizationID: s.org.ID, Component: "collector"}, domain.InstanceAssessed{
			InstanceID: instance, AssessmentID: uuid.New(), At: s.clock.Now(), Domains: []domain.DomainScore{}, Changes: []domain.Change{}, New: found,
		})
		return err
	}))
}

// TestNewFindingsAreOneEventForEachCheck: F8. 24 databases are one event, and each rule gets the
// severities that it matches.
func TestNewFindingsAreOneEventForEachCheck(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	r.answers(http.StatusServiceUnavailable) // what is told is looked at, and not how it arrives
	all := s.webhook(r.URL)
	s.rule(all)
	critical := s.channel(notifying.CreateChannel{Name: "Pager", Kind: webhook.Name, Address: notification.Address{URL: r.URL, Secret: secret}})
	s.rule(critical, func(t *notification.Terms) {
		t.Match.Severities, t.Match.Events = []alert.Severity{alert.Critical}, []notification.EventType{notification.FindingNew}
	})
	wraparound := domain.NewFindings{CheckID: "PG-M01", Title: "Wraparound approaching", Severity: "Critical", Findings: 24}
	public := domain.NewFindings{CheckID: "PG-S17", Title: "PUBLIC may create", Severity: "Medium", Findings: 1}
	s.assessed(s.orders)
	s.assessed(s.orders, wraparound, public)
	s.assessed(uuid.New(), public) // of a server that nobody knows
	s.follow()
	s.follow()
	// Both were found at once, so that their order is by their ids.
	const first, second = "finding.new:Wraparound approaching: 24 findings", "finding.new:PUBLIC may create"
	told := strings.ReplaceAll(s.story(), second+" "+first, first+" "+second)
	const one, two = "pending " + first + " " + second, "pending " + first
	if told != one+" | "+two && told != two+" | "+one {
		t.Errorf("told: %s", told)
	}
	s.clock.Advance(time.Minute)
	for name, test := range map[string]struct {
		match notification.Match
		want  int64
	}{
		"everything": {notification.Match{}, 2}, "warning": {notification.Match{Severities: []alert.Severity{alert.Warning}}, 0},
		"info":      {notification.Match{Severities: []alert.Severity{alert.Info}, Events: []notification.EventType{notification.FindingNew}}, 1},
		"by engine": {notification.Match{Engines: []domain.Engine{domain.Oracle}}, 0}, "alerts": {notification.Match{Events: []notification.EventType{notification.AlertRaised}}, 0},
	} {
		p, err := s.reader.Preview(t.Context(), s.org.ID, test.match, time.Minute)
		if err != nil || p.Events != test.want {
			t.Errorf("%s: %+v, %v", name, p, err)
		}
	}
}
