package notify_test

import (
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	"muster/domain/alert"
	"muster/internal/concurrency/pause"
	"muster/projections/projectionstest"
)

func TestRetryAfterOfAReceiverIsObeyed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var asked atomic.Int32
	busy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		asked.Add(1)
		w.Header().Set("Retry-After", "600")
		w.WriteHeader(http.StatusTooManyRequests)
	}))
	t.Cleanup(busy.Close)
	s.rule(s.webhook(busy.URL))
	s.fires(alert.Critical, "lag")
	s.follow()
	s.passes(0)
	s.process("a", s.sender)
	waits := 0.0
	for end := time.Now().Add(patience); (waits < 500 || waits > 600) && time.Now().Before(end); _ = pause.For(t.Context(), 5*time.Millisecond) {
		must(t, s.db.GetContext(t.Context(), &waits, `SELECT extract(epoch FROM due_at - now()) FROM jobs WHERE kind = 'notify'`))
	}
	if waits < 500 || waits > 600 || asked.Load() != 1 {
		t.Errorf("the next attempt is in %.0f s, after %d", waits, asked.Load())
	}
}

// TestAnUnknownKindIsNotSent: a channel of a kind that this program does not know is an error, and nothing is
// sent in another kind's form.
func TestAnUnknownKindIsNotSent(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	r := s.receiver()
	id := s.webhook(r.URL)
	s.rule(id)
	s.exec(`UPDATE notification_channels SET kind = 'pigeon' WHERE id = $1`, id)
	if _, err := s.sender.Test(t.Context(), s.org, id); err == nil {
		t.Error("a test is sent")
	}
	s.fires(alert.Critical, "lag")
	if err := projectionstest.Handle(t.Context(), s.db, s.dispatch.Groups()...); err == nil {
		t.Error("its events are put into a delivery")
	}
	if _, err := s.reader.Channels(t.Context(), s.org.ID, nil); err == nil {
		t.Error("its address is shown")
	}
	s.exec(`UPDATE notification_channels SET kind = 'webhook' WHERE id = $1`, id)
	s.follow()
	s.process("a", s.sender)
	s.wantStory("sent raised:lag")
	if len(r.got()) != 1 {
		t.Errorf("%d posts", len(r.got()))
	}
}
