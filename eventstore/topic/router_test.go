package topic_test

import (
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"

	"muster/eventstore/topic"
	"muster/internal/postgres/listen"
)

// TestGroupsComeAndGo on one router, the last one ending while another is added.
func TestGroupsComeAndGo(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	router, err := topic.NewRouter(message.RouterConfig{CloseTimeout: time.Minute}, watermill.NopLogger{})
	if err != nil {
		t.Fatal(err)
	}
	ran := make(chan error, 1)
	go func() { ran <- router.Run(t.Context()) }()
	<-router.Running()
	groups := 0
	begin := func() (stop func()) {
		t.Helper()
		groups++
		g := s.group
		g.Name = fmt.Sprint("readers", groups%2) // the one before the last is gone
		stop, err := topic.Subscribe(t.Context(), router, s.db, g, listen.NewWake(), slog.New(slog.DiscardHandler), func() {})
		if err != nil {
			t.Fatal(err)
		}
		return stop
	}
	stop := begin()
	for range 50 {
		ended := make(chan struct{})
		go func(stop func()) { defer close(ended); stop() }(stop)
		stop = begin()
		<-ended
	}
	stop()
	begin()()
	if router.IsClosed() {
		t.Error("the router closed itself")
	}
	if err := router.Close(); err != nil {
		t.Error(err)
	}
	if err := router.Close(); err != nil { // once more does no harm
		t.Error(err)
	}
	if err := <-ran; err != nil {
		t.Error(err)
	}
}
