package history_test

import (
	"encoding/binary"
	"os"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/testing/pgtest"
	"muster/projections/history"
	"muster/projections/projectionstest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func registry(t testing.TB) *eventstore.Registry {
	t.Helper()
	r := eventstore.NewRegistry()
	for _, e := range report.Events() {
		r.Register(report.Name(e), 1, e)
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	return r
}

// noon is when the stories begin; everything in them happens minutes after it.
var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

func minute(n int) time.Time { return noon.Add(time.Duration(n) * time.Minute) }

// scene is a log whose history is read.
type scene struct {
	t        *testing.T
	db       *sqlx.DB
	store    *eventstore.Store
	registry *eventstore.Registry
	stage    *projectionstest.Stage
	reader   *history.Reader
	minute   int // the next event's
}

func newScene(t *testing.T) *scene {
	t.Helper()
	url := pgtest.URL(t)
	s := &scene{t: t, db: pgtest.Connect(t, url), registry: registry(t)}
	s.store = eventstore.New(s.db)
	s.reader = history.NewReader(s.db)
	s.stage = projectionstest.Run(t, s.db, url, history.Projection(s.registry.Decode))
	return s
}

// id makes ids that a reader of a failing test can tell apart.
func id(n uint32) uuid.UUID {
	var u uuid.UUID
	u[6], u[8] = 0x70, 0x80
	binary.BigEndian.PutUint32(u[12:], n)
	return u
}

// happens records facts of one report, a minute apart.
func (s *scene) happens(organization, stream uuid.UUID, facts ...report.Event) {
	s.t.Helper()
	a := eventstore.Append{Organization: organization, StreamType: report.StreamType, Stream: stream, Expected: eventstore.AnyVersion}
	for _, fact := range facts {
		e, err := s.registry.Encode(fact)
		if err != nil {
			s.t.Fatal(err)
		}
		e.OccurredAt = minute(s.minute)
		s.minute++
		a.Events = append(a.Events, e)
	}
	s.stage.Append(eventstore.Reports, a)
}

func queued(kind report.Kind, requester uuid.UUID, others ...uuid.UUID) report.Queued {
	return report.Queued{
		Kind: kind, Scope: report.Scope{InstanceIDs: []uuid.UUID{}}, ScopeLabel: "All active instances",
		RequesterID: requester, RecipientIDs: append([]uuid.UUID{requester}, others...),
	}
}

func ready(expires time.Time, recipients ...uuid.UUID) report.Ready {
	return report.Ready{
		PDFSHA256: "9f2c", PDFKey: "pdf/1", FileName: "security.pdf", SizeBytes: 412331, Pages: 14,
		InputsSHA256: "ab", InputsKey: "inputs/1", Renderer: report.Renderer{Version: "1"},
		Witness: report.Witness{Log: "reports", Position: 1, Hash: "00"}, RecipientIDs: recipients, ExpiresAt: expires,
	}
}

var started = report.BuildStarted{Worker: "w1", Attempt: 1}
