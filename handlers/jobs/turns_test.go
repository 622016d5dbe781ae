package jobs_test

import (
	"testing"

	"github.com/ThreeDotsLabs/watermill/message"
	"github.com/google/uuid"

	"muster/handlers/jobs"
)

func of(organization uuid.UUID, jobsOf int) (list []jobs.Job) {
	for range jobsOf {
		list = append(list, jobs.Job{OrganizationID: organization, Kind: jobs.Build, Subject: uuid.New()})
	}
	return list
}

// TestJobsThatHangLeaveHalfOfTheSlots: the jobs of one organization never end, and those of
// another are worked on all the same. Ended jobs make room for the first one's next.
func TestJobsThatHangLeaveHalfOfTheSlots(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	hostile, other := uuid.New(), uuid.New()
	s.insert(of(hostile, 10)...)
	sub, messages := s.subscriber(func(c *jobs.Config) { c.Default.Concurrency = 2 })
	var hanging []*message.Message
	for range 2 {
		m, _ := s.receive(messages)
		hanging = append(hanging, m)
	}
	s.insert(of(other, 3)...)
	for range 3 {
		m, c := s.receive(messages)
		if c.OrganizationID != other {
			t.Fatal("the organization whose jobs hang got another slot while one waited")
		}
		m.Ack()
	}
	s.until("the other's jobs ended", func() bool { return len(s.rows()) == 10 })
	hanging[0].Ack()
	if _, c := s.receive(messages); c.OrganizationID != hostile {
		t.Error("a job that ended made no room for the next")
	}
	if err := sub.Close(); err != nil {
		t.Fatal(err)
	}
}

// TestOrganizationsTakeTurns: two organizations have long backlogs, and a later one waits for at most one
// job of each.
func TestOrganizationsTakeTurns(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	late := uuid.New()
	s.insert(append(of(uuid.New(), 20), of(uuid.New(), 20)...)...)
	s.insert(of(late, 3)...)
	_, messages := s.subscriber(func(c *jobs.Config) { c.Default.Concurrency = 1 })
	left := len(s.rows())
	for others, mine := 0, 0; mine < 3; {
		m, c := s.receive(messages)
		if c.OrganizationID == late {
			mine++
		} else if others++; others > 2*(mine+1) {
			t.Fatalf("%d jobs of others were worked on before %d of one that waits", others, mine+1)
		}
		m.Ack()
		left--
		s.until("the job ended, and its organization may be next", func() bool { return len(s.rows()) == left })
	}
}
