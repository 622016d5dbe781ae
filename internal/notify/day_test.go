package notify_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/notifying"
	"muster/domain/alert"
	"muster/domain/notification"
	"muster/internal/notify"
)

// TestAMailServerIsUnreachableForADay: a delivery that was tried for a day fails, and the events of
// that time are one mail when the server is back.
func TestAMailServerIsUnreachableForADay(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.smtp.Answer("ana@acme.example", 451, [3]int{4, 3, 0}, "away")
	s.rule(s.channel(notifying.CreateChannel{Name: "Ana", Kind: notification.Email, MemberIDs: []uuid.UUID{s.ana.ID}}))
	s.process("a", s.sender)
	s.fires(alert.Critical, "first")
	s.follow()
	s.await("it was tried twice", func() bool {
		all, err := s.reader.Deliveries(t.Context(), notify.DeliveryQuery{Organization: s.org.ID, Limit: 1})
		return err == nil && len(all) == 1 && all[0].Attempts > 1 && all[0].LastCode == 451
	})
	for _, key := range []string{"second", "third"} {
		s.clock.Advance(8 * time.Hour)
		s.fires(alert.Warning, key)
		s.follow()
	}
	s.wantStory("pending raised:first | pending raised:second raised:third")
	s.exec(`UPDATE jobs SET queued_at = queued_at - interval '25 hours' FROM deliveries d WHERE d.id = jobs.subject AND d.closed_at IS NOT NULL`)
	s.await("the first is given up", func() bool { return strings.HasPrefix(s.story(), "failed raised:first | ") })
	s.smtp.Answer("ana@acme.example", 0, [3]int{}, "")
	s.wantStory("failed raised:first | sent raised:second raised:third")
	if mails := s.smtp.Mails(); len(mails) != 1 || !strings.Contains(mails[0].Data, "second") || !strings.Contains(mails[0].Data, "third") {
		t.Errorf("%d mails", len(mails))
	}
}
