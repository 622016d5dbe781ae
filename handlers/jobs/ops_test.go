package jobs_test

import (
	"errors"
	"testing"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/handlers/jobs"
)

func TestOperatorsListAndRetryJobs(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	mine, theirs := build(), build()
	mail := mine
	mail.Kind, mail.Key = jobs.Mail, uuid.NewString()
	s.insert(mine, theirs, mail)
	_, messages := s.subscriber(func(c *jobs.Config) { c.Default.MaxAttempts = 1 })
	for range 2 {
		m, c := s.receive(messages)
		s.tx(func(tx *sqlx.Tx) error { return s.queue.SetProgress(t.Context(), tx, c, 2, 3, "Rendering the PDF") })
		if c.Subject == theirs.Subject {
			m.Nack()
		}
	}
	s.until("one is dead", func() bool {
		dead, err := s.queue.Dead(t.Context(), uuid.Nil, 10)
		return err == nil && len(dead) == 1
	})

	progress, err := s.queue.Progress(t.Context(), mine.OrganizationID, []uuid.UUID{mine.Subject, theirs.Subject})
	if p := progress[mine.Subject]; err != nil || len(progress) != 1 || p.Step != 2 || p.TotalSteps != 3 || p.Label != "Rendering the PDF" || p.WorkerID != "w" || p.LeasedUntil == nil {
		t.Errorf("progress %+v %v", progress, err)
	}
	if counts, err := s.queue.Counts(t.Context(), mine.OrganizationID); err != nil || counts[jobs.Build] != (jobs.QueueCounts{Running: 1}) || counts[jobs.Mail] != (jobs.QueueCounts{Queued: 1, Due: counts[jobs.Mail].Due}) || counts[jobs.Mail].Due <= 0 {
		t.Errorf("counts %+v %v", counts, err)
	}
	if rows, err := s.queue.List(t.Context(), mine.OrganizationID, 10, jobs.Build); err != nil || len(rows) != 1 {
		t.Errorf("builds of mine %+v %v", rows, err)
	}
	dead, _ := s.queue.Dead(t.Context(), theirs.OrganizationID, 10)
	if foreign, err := s.queue.Dead(t.Context(), mine.OrganizationID, 10); err != nil || len(foreign) != 0 {
		t.Errorf("a foreign organization sees %+v %v", foreign, err)
	}
	if _, ok, err := s.queue.Get(t.Context(), mine.OrganizationID, dead[0].ID); ok || err != nil {
		t.Errorf("a foreign organization reads it: %v %v", ok, err)
	}
	var alive *jobs.NotDeadError
	for what, err := range map[string]error{
		"foreign retry": s.queue.Retry(t.Context(), mine.OrganizationID, dead[0].ID),
		"foreign drop":  s.queue.Drop(t.Context(), mine.OrganizationID, dead[0].ID),
		"unknown":       s.queue.Retry(t.Context(), uuid.Nil, uuid.New()),
		"alive":         s.queue.Drop(t.Context(), uuid.Nil, progress[mine.Subject].ID),
	} {
		if !errors.As(err, &alive) {
			t.Errorf("%s: %v, want *NotDeadError", what, err)
		}
	}
	if err := s.queue.Retry(t.Context(), theirs.OrganizationID, dead[0].ID); err != nil {
		t.Fatal(err)
	}
	m, c := s.receive(messages)
	if c.ID != dead[0].ID || c.Attempt != 1 {
		t.Errorf("retried as %+v", c)
	}
	m.Nack()
	s.until("dead again", func() bool {
		row, _, _ := s.queue.Get(t.Context(), uuid.Nil, c.ID)
		return row.Status == jobs.StatusDead
	})
	if err := s.queue.Drop(t.Context(), theirs.OrganizationID, c.ID); err != nil {
		t.Fatal(err)
	}
	if _, ok, _ := s.queue.Get(t.Context(), uuid.Nil, c.ID); ok {
		t.Error("a dropped job is still there")
	}
}
