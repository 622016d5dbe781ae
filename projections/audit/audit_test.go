package audit_test

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections"
	"muster/projections/audit"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

// The contract, §9.6.
func TestTrailNames(t *testing.T) {
	t.Parallel()
	want := map[report.Event]string{
		report.BuildStarted{}: "buildStarted", report.BuildResumed{}: "buildResumed", report.StepCompleted{}: "stepCompleted",
		report.Failed{}: "failed", report.EmailSent{}: "emailSent", report.EmailFailed{}: "emailFailed",
		report.Downloaded{}: "downloaded", report.Expired{}: "expired", report.InputsErased{}: "inputsErased", report.Signed{}: "signed",
	}
	for event, name := range want {
		if got := audit.TrailName(report.Name(event)); got != name {
			t.Errorf("%s is %s in the trail, want %s", report.Name(event), got, name)
		}
	}
	for wire, name := range map[string]string{
		report.Name(report.Queued{}): "queued", report.Name(report.Reused{}): "reused", report.Name(report.Ready{}): "ready",
		organization.Name(organization.MemberInvited{}): "memberInvited", organization.Name(organization.Created{}): "organizationCreated",
	} {
		if got := audit.TrailName(wire); got != name {
			t.Errorf("%s is %s in the trail, want %s", wire, got, name)
		}
	}
}

func TestTrailAndList(t *testing.T) {
	t.Parallel()
	url := pgtest.URL(t)
	db := pgtest.Connect(t, url)
	acme, other, stream, foreign, alarm := uuid.New(), uuid.New(), uuid.New(), uuid.New(), uuid.New()
	ana, eve := uuid.NewString(), uuid.NewString()
	noon := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	last := map[eventstore.Log]int64{}
	pgtest.Unguard(t, db)
	add := func(log eventstore.Log, minute int, organization, stream uuid.UUID, actor string, types ...string) {
		t.Helper()
		a := eventstore.Append{
			Organization: organization, StreamType: "x", Stream: stream, Expected: eventstore.AnyVersion,
			Metadata: eventstore.Metadata{ActorID: actor},
		}
		for _, typ := range types {
			a.Events = append(a.Events, eventstore.NewEvent{Type: typ, Data: []byte(`{"b": 1.0, "a":2}`)})
		}
		position, err := eventstore.New(db).Append(t.Context(), log, a)
		if err != nil {
			t.Fatal(err)
		}
		// The database's clock recorded it; the story needs its own.
		_, err = db.Exec(`UPDATE events SET recorded_at = $1 WHERE log = $2 AND position > $3`,
			noon.Add(time.Duration(minute)*time.Minute), log, last[log])
		if err != nil {
			t.Fatal(err)
		}
		last[log] = position
	}
	add(eventstore.Reports, 1, acme, stream, ana, "report.queued")
	add(eventstore.Reports, 2, other, foreign, eve, "report.queued")
	add(eventstore.Organization, 3, acme, acme, ana, "member.invited")
	add(eventstore.Reports, 4, acme, stream, "system:worker", "report.build_started", "report.ready") // at one instant
	add(eventstore.Organization, 5, acme, acme, "ben", "token.minted")
	add(eventstore.Fleet, 6, acme, alarm, "system:ingest", "alert.raised", "alert.still_firing")
	add(eventstore.Fleet, 7, acme, alarm, ana, "alert.acknowledged", "alert.muted")
	add(eventstore.Fleet, 8, acme, alarm, "system:watch", "alert.auto_resolved")
	add(eventstore.Fleet, 8, acme, uuid.New(), "", "database.registered")
	add(eventstore.Fleet, 9, other, uuid.New(), eve, "instance.registered")
	add(eventstore.Fleet, 10, other, uuid.New(), "system", "instance.changed") // nothing to write in the last page
	stage := projectionstest.Run(t, db, url, audit.Projection())
	for log, position := range last {
		stage.Follow(log, position)
	}

	r := audit.NewReader(db)
	trail, err := r.Trail(t.Context(), acme, stream, 0, 10)
	if got := types(trail); err != nil || got != "queued buildStarted ready" {
		t.Errorf("trail is %q, %v", got, err)
	}
	if string(trail[0].Data) != `{"b": 1.0, "a":2}` || trail[0].ActorID != ana || !trail[0].At.Equal(noon.Add(time.Minute)) {
		t.Errorf("first entry is %+v", trail[0])
	}
	if rest, err := r.Trail(t.Context(), acme, stream, trail[0].Position, 1); err != nil || types(rest) != "buildStarted" {
		t.Errorf("the page behind the first is %q, %v", types(rest), err)
	}
	if done, err := r.Trail(t.Context(), acme, alarm, 0, 10); err != nil || types(done) != "alertAcknowledged alertMuted" || done[0].Subject != alarm {
		t.Errorf("what was done with the alert is %q, %v", types(done), err)
	}
	if theirs, err := r.List(t.Context(), audit.Query{Organization: other, Limit: 100}); err != nil || types(theirs) != "instanceRegistered queued" {
		t.Errorf("the other organization's are %q, %v", types(theirs), err)
	}
	if none, err := r.Trail(t.Context(), other, stream, 0, 10); err != nil || len(none) != 0 {
		t.Errorf("a stranger's trail is %v, %v", none, err)
	}

	tests := map[string]struct {
		query audit.Query
		want  string
	}{
		"all":         {audit.Query{}, "alertMuted alertAcknowledged tokenMinted ready buildStarted memberInvited queued"},
		"one actor":   {audit.Query{Actors: []string{ana}}, "alertMuted alertAcknowledged memberInvited queued"},
		"two types":   {audit.Query{Types: []string{"ready", "queued"}}, "ready queued"},
		"of an alert": {audit.Query{Types: []string{"alertAcknowledged", "alertRaised", "alertAutoResolved"}}, "alertAcknowledged"},
		"machines":    {audit.Query{Actors: []string{"system:ingest", "system:watch", "system", ""}}, ""},
		"from":        {audit.Query{From: noon.Add(4 * time.Minute)}, "alertMuted alertAcknowledged tokenMinted ready buildStarted"},
		"to":          {audit.Query{To: noon.Add(4 * time.Minute)}, "memberInvited queued"},
		"a window":    {audit.Query{From: noon.Add(3 * time.Minute), To: noon.Add(5 * time.Minute)}, "ready buildStarted memberInvited"},
		"nobody's":    {audit.Query{Actors: []string{eve}}, ""},
		"two filters": {audit.Query{Actors: []string{ana}, Types: []string{"queued"}}, "queued"},
	}
	for name, test := range tests {
		q := test.query
		q.Organization, q.Limit = acme, 100
		entries, err := r.List(t.Context(), q)
		if err != nil || types(entries) != test.want {
			t.Errorf("%s: %q, %v, want %q", name, types(entries), err, test.want)
		}
		// Page by page it is the same, also between two entries of one instant.
		var paged []audit.Entry
		for q.Limit = 1; ; {
			page, err := r.List(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			place := page[0].Cursor()
			q.Before, paged = &place, append(paged, page...)
		}
		if types(paged) != test.want {
			t.Errorf("%s, page by page: %q, want %q", name, types(paged), test.want)
		}
	}

	difference, err := stage.Rebuild(t.Context(), audit.Name, projections.RebuildOptions{}, nil)
	if err != nil || !difference.Empty() || len(difference.Positions) != 3 {
		t.Errorf("rebuild gives %+v, %v", difference, err)
	}
}

func types(entries []audit.Entry) (all string) {
	for i, e := range entries {
		if i > 0 {
			all += " "
		}
		all += fmt.Sprint(e.Type)
	}
	return all
}
