package e2e

import (
	"context"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/cli/installation"
)

// record appends to a report's stream what no use case would, chained as it
// should be.
func (i installed) record(t testing.TB, organization, stream uuid.UUID, events ...eventstore.NewEvent) {
	t.Helper()
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		_, err := in.Events.Append(ctx, eventstore.Reports, eventstore.Append{
			Organization: organization, StreamType: report.StreamType, Stream: stream,
			Expected: eventstore.AnyVersion, Events: events, Metadata: eventstore.Metadata{ActorID: "system:test"},
		})
		return err
	})
}

// TestPoisonEvent records an event that the history cannot apply, with one behind
// it that it could: the stream is set aside, everything else goes on, operators
// see it, and in the end it is dropped for good.
func TestPoisonEvent(t *testing.T) {
	t.Parallel()
	h := newReported(t)
	h.serves(t)
	id := h.security
	organization := h.events(t, "--stream", id.String())[0].OrganizationID
	expired, err := usecase.Registry().Encode(report.Expired{ExpiredAt: time.Now().UTC()})
	if err != nil {
		t.Fatal(err)
	}
	poison := eventstore.NewEvent{Type: "report.downloaded", Data: []byte(`{"memberId":"nobody"}`)}
	h.record(t, organization, id, poison, expired)
	h.must(t, "events", "verify")

	letter := h.setAside(t)
	if shown := h.ana.report(t, id); shown.Status != "Ready" {
		t.Errorf("the event behind the poisoned one was applied: %s", shown.Status)
	}
	other := h.done(t, scorecard(h.live, 1))
	if shown := h.ana.report(t, other); shown.Status != "Ready" {
		t.Errorf("another report is %s", shown.Status)
	}
	if !h.server.isReady() {
		t.Error("one poisoned stream makes the whole server unready")
	}
	h.operatorsSee(t, letter, id)

	h.fail(t, []string{"dead", "retry", letter}, "0 events applied, 2 still wait")
	if said := h.must(t, "dead", "drop", letter); !strings.Contains(said, "1 events applied, none waits") {
		t.Errorf("dropping says %s", said)
	}
	if shown := h.ana.report(t, id); shown.Status != "Expired" {
		t.Errorf("after the drop what waited is not applied: %s", shown.Status)
	}
	// What is built anew leaves it out too, and is not stopped by it.
	h.must(t, "projections", "rebuild", "report_history", "--stop-on-difference")
	if said := h.must(t, "projections", "diff", "report_history"); said != "no difference\n" {
		t.Errorf("the rebuilt history differs: %s", said)
	}
	if said := h.must(t, "dead", "list"); strings.Count(said, "\n") != 1 {
		t.Errorf("something is still set aside:\n%s", said)
	}
	if shown := h.ana.report(t, id); shown.Status != "Expired" {
		t.Errorf("after the rebuild the report is %s", shown.Status)
	}
	h.must(t, "events", "verify") // the log keeps what was dropped from the history
}

// setAside waits for the one dead letter and returns its id.
func (h house) setAside(t *testing.T) string {
	t.Helper()
	pattern := regexp.MustCompile(`(?m)^([0-9a-f-]{36}) +report\.downloaded reports:\d+ in report_history .* 1 +\S`)
	var found []string
	eventually(t, "the poisoned stream is set aside", func() bool {
		found = pattern.FindStringSubmatch(h.must(t, "dead", "list"))
		return found != nil
	})
	said := h.must(t, "dead", "show", found[1])
	for _, word := range []string{"report.downloaded", `{"memberId":"nobody"}`, "1 events wait behind it", "error:"} {
		if !strings.Contains(said, word) {
			t.Errorf("dead show does not say %q:\n%s", word, said)
		}
	}
	return found[1]
}

// operatorsSee looks at the operations pages and the metrics.
func (h house) operatorsSee(t *testing.T, letter string, stream uuid.UUID) {
	t.Helper()
	var dead struct {
		Items []struct {
			ID, Kind, Source, Error string
			Subject                 uuid.UUID
			Waiting                 int
		}
	}
	h.ana.get(t, "/api/v1/ops/dead-letters", &dead)
	if len(dead.Items) != 1 || dead.Items[0].ID != letter || dead.Items[0].Subject != stream || dead.Items[0].Waiting != 1 {
		t.Errorf("the operations page shows %+v", dead.Items)
	}
	metrics := string(h.ana.get(t, "/metrics", nil).body)
	if !strings.Contains(metrics, `muster_projection_parked_events{projection="report_history"} 2`) {
		t.Errorf("the metrics do not count it:\n%s", regexp.MustCompile(`(?m)^muster_projection.*$`).FindAllString(metrics, -1))
	}
	got := h.ana.call(t, http.StatusConflict, http.MethodPost, "/api/v1/ops/dead-letters/"+letter+"/retry", nil, nil)
	if got.code() != "invalid_state" {
		t.Errorf("a retry that fails again answers %s", got.body)
	}
}
