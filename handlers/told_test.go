package handlers_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"muster/handlers"
	"muster/handlers/jobs"
)

func TestReadModelsAreNotifiedOfARecordedReport(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	told := make(chan []string, 1)
	w := handlers.NewWorkers(s.queue, handlers.WorkersConfig{
		Config: jobs.Config{Worker: "w1", Lease: time.Hour, Poll: 20 * time.Millisecond},
		Recorded: func(ctx context.Context) { // what they would find if they looked now
			var types []string
			for e, err := range s.events.Load(ctx, s.db, s.organization, id) {
				if err != nil {
					types = append(types, err.Error())
					break
				}
				types = append(types, e.Type)
			}
			told <- types
		},
	})
	w.Add(s.builder().Task(1))
	ctx, stop := context.WithCancel(t.Context())
	ran := make(chan error, 1)
	go func() { ran <- w.Run(ctx) }()

	select {
	case types := <-told:
		if !slices.Contains(types, "report.ready") {
			t.Errorf("they were told and found %v", types)
		}
	case <-time.After(patience):
		t.Errorf("they were not told; the log says\n%s", s.story())
	}
	stop()
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
