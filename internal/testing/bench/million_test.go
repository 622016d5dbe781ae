package bench_test

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"muster/domain/alert"
	"muster/domain/report"
	"muster/eventstore"
)

// BenchmarkStart is how long serve takes to be ready on logs of 1,000,000 events, half of
// them of reports and half of alerts, with digests and hashes as they are, and what it
// takes then: the first time, when every projection is filled from them; again; and after
// SIGKILL. Goal: ≤ 10 s for both of the latter, ≤ 120 MiB. MUSTER_BENCH_EVENTS makes it
// smaller for a quick look.
func BenchmarkStart(b *testing.B) {
	events := 1_000_000
	if n, err := strconv.Atoi(os.Getenv("MUSTER_BENCH_EVENTS")); err == nil && n > 0 {
		events = n
	}
	p := start(b)
	var session struct{ Organization struct{ ID uuid.UUID } }
	p.get("/session", &session)
	p.end(syscall.SIGTERM)
	began := time.Now()
	if session.Organization.ID == uuid.Nil {
		b.Fatal("there is no organization")
	}
	p.fillLogs(session.Organization.ID, events)
	b.Logf("%d events written in %s", events, time.Since(began).Round(time.Second))
	for b.Loop() {
		b.ReportMetric(p.startAgain(5*time.Minute).Seconds(), "filling-s")
		time.Sleep(idleFor)
		b.ReportMetric(p.memory(), "filled-MiB")
		p.end(syscall.SIGTERM)
		b.ReportMetric(p.startAgain(time.Minute).Seconds(), "ready-s")
		time.Sleep(idleFor)
		b.ReportMetric(p.memory(), "ready-MiB")
		p.end(syscall.SIGKILL)
		b.ReportMetric(p.startAgain(time.Minute).Seconds(), "killed-s")
	}
	var listed struct{ Page struct{ TotalItems int } }
	p.get("/reports?kind=Security", &listed)
	if want := (events/2/4 + 2) / 3; listed.Page.TotalItems != want {
		b.Errorf("%d reports of a kind are listed, want %d", listed.Page.TotalItems, want)
	}
	p.run("events", "verify") // what was written is a log
}

// end ends the server and waits until it has gone.
func (p *program) end(signal syscall.Signal) {
	p.b.Helper()
	if err := syscall.Kill(p.pid, signal); err != nil {
		p.b.Fatal(err)
	}
	p.until("the server ends", 10*time.Millisecond, time.Minute, func() bool {
		return syscall.Kill(p.pid, 0) != nil
	})
}

// startAgain starts the server and returns how long it took to be ready.
func (p *program) startAgain(patience time.Duration) time.Duration {
	p.b.Helper()
	began := time.Now()
	p.serve("--listen=127.0.0.1:0", "--rate-limits=off")
	p.until("the server is ready", 20*time.Millisecond, patience, func() bool {
		request, err := http.NewRequestWithContext(p.b.Context(), http.MethodGet, p.base+"/readyz", nil)
		if err != nil {
			p.b.Fatal(err)
		}
		answer, err := http.DefaultClient.Do(request)
		if err != nil {
			return false
		}
		_ = answer.Body.Close()
		return answer.StatusCode == http.StatusOK
	})
	return time.Since(began)
}

// fillLogs writes so many events behind those that are there, two thirds of a second apart.
func (p *program) fillLogs(organization uuid.UUID, events int) {
	p.b.Helper()
	ctx := p.b.Context()
	conn, err := pgx.Connect(ctx, p.url)
	if err != nil {
		p.b.Fatal(err)
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }()
	reports, alerts := lifeOfReport(organization), lifeOfAlert()
	for _, l := range []struct {
		log    eventstore.Log
		stream string
		life   []happening
	}{{eventstore.Reports, report.StreamType, reports}, {eventstore.Fleet, alert.StreamType, alerts}} {
		written := &planted{log: l.log, stream: l.stream, life: l.life, organization: organization, left: events / 2, end: time.Now().UTC().Truncate(time.Microsecond).Add(-time.Minute)}
		err := conn.QueryRow(ctx, `SELECT position, hash FROM log_head WHERE log = $1`, string(l.log)).Scan(&written.position, &written.hash)
		if err != nil {
			p.b.Fatal(err)
		}
		written.first = written.position
		_, err = conn.CopyFrom(ctx, pgx.Identifier{"events"}, []string{
			"log", "position", "organization_id", "stream_type", "stream_id", "version", "type",
			"schema_version", "occurred_at", "recorded_at", "data", "metadata", "digest", "hash",
		}, written)
		if err != nil {
			p.b.Fatal(err)
		}
		for _, statement := range []string{
			`INSERT INTO streams SELECT stream_id, log, organization_id, stream_type, position FROM events WHERE log = $1 AND position > $2 AND version = 1`,
			`UPDATE log_head h SET position = e.position, hash = e.hash, recorded_at = e.recorded_at
				FROM events e WHERE h.log = $1 AND e.log = $1 AND e.position > $2 AND e.position = (SELECT max(position) FROM events WHERE log = $1)`,
		} {
			if _, err := conn.Exec(ctx, statement, string(l.log), written.first); err != nil {
				p.b.Fatal(err)
			}
		}
	}
	if _, err := conn.Exec(ctx, `VACUUM ANALYZE`); err != nil {
		p.b.Fatal(err)
	}
}

// happening is an event of a stream's life, with the stream's number in its data.
type happening struct {
	kind string
	data func(stream int, at time.Time) string
}

func said(data string) func(int, time.Time) string {
	return func(int, time.Time) string { return data }
}

// lifeOfReport is what a report's stream holds when nothing goes wrong.
func lifeOfReport(member uuid.UUID) []happening {
	kinds := []string{"Security", "InstanceScorecard", "DataInventory"}
	digest := func(of string, n int) string {
		sum := sha256.Sum256([]byte(of + strconv.Itoa(n)))
		return hex.EncodeToString(sum[:])
	}
	return []happening{
		{"report.queued", func(n int, _ time.Time) string {
			return fmt.Sprintf(`{"kind":%q,"scope":{"instanceIds":[],"databaseId":null,"from":null,"to":null},"scopeLabel":"All active instances","fingerprint":%q,"requesterId":%q,"recipientIds":[%q]}`,
				kinds[n%len(kinds)], digest("fingerprint", n), member, member)
		}},
		{"report.build_started", said(`{"worker":"bench","attempt":1}`)},
		{"report.ready", func(n int, at time.Time) string {
			return fmt.Sprintf(`{"asOf":%q,"inputsSha256":%q,"inputsKey":"inputs/%d","pdfSha256":%q,"pdfKey":"pdf/%d","fileName":"report.pdf","sizeBytes":412331,"pages":14,"renderer":{"version":"1","commit":"abc","goVersion":"go1.26","assets":"d0"},"witness":{"log":"reports","position":1,"hash":"00"},"recipientIds":[%q],"retentionSeconds":2592000,"expiresAt":"2999-01-01T00:00:00Z","inputsErasedOn":"2999-01-01T00:00:00Z"}`,
				at.Format(time.RFC3339), digest("inputs", n), n, digest("pdf", n), n, member)
		}},
		{"report.email_sent", func(n int, _ time.Time) string {
			return fmt.Sprintf(`{"memberId":%q,"messageId":"<%d@bench>","smtpCode":250}`, member, n)
		}},
	}
}

// lifeOfAlert is what an alert's stream holds that fired once.
func lifeOfAlert() []happening {
	return []happening{
		{"alert.raised", func(n int, at time.Time) string {
			then := at.Format(time.RFC3339)
			return fmt.Sprintf(`{"key":"bench/%d","title":"/data is 91 %% full","description":"of 2 TB","severity":"warning","createdAt":%q,"firstTriggeredAt":%q,"lastTriggeredAt":%q}`, n, then, then, then)
		}},
		{"alert.resolved", func(_ int, at time.Time) string {
			then := at.Format(time.RFC3339)
			return fmt.Sprintf(`{"resolvedAt":%q,"lastTriggeredAt":%q,"startedAt":%q}`, then, then, then)
		}},
	}
}

// planted are the rows of a log's events, chained: pgx.CopyFromSource.
type planted struct {
	log             eventstore.Log
	stream          string
	life            []happening
	organization    uuid.UUID
	left, n         int
	first, position int64
	hash            []byte
	end             time.Time // of the log
}

func (s *planted) Next() bool {
	s.left--
	return s.left >= 0
}

func (*planted) Err() error { return nil }

func (s *planted) Values() ([]any, error) {
	number, step := s.n/len(s.life), s.n%len(s.life)
	s.n++
	s.position++
	at := s.end.Add(-time.Duration(s.left) * 667 * time.Millisecond)
	var stream uuid.UUID
	copy(stream[:], s.log)
	binary.BigEndian.PutUint64(stream[8:], uint64(number))
	stream[6], stream[8] = 0x70, 0x80
	e := eventstore.Event{
		Log: s.log, Position: s.position, OrganizationID: s.organization, StreamType: s.stream, Stream: stream, Version: int64(step + 1),
		Type: s.life[step].kind, SchemaVersion: 1, OccurredAt: at, RecordedAt: at,
		Data: []byte(s.life[step].data(number, at)), Metadata: []byte(`{"actorId":"system:worker"}`),
	}
	digest := eventstore.Digest(e)
	hash := eventstore.Link(s.hash, digest[:], e.RecordedAt)
	s.hash = hash[:]
	return []any{string(e.Log), e.Position, e.OrganizationID, e.StreamType, e.Stream, e.Version, e.Type, e.SchemaVersion, e.OccurredAt, e.RecordedAt, e.Data, e.Metadata, digest[:], hash[:]}, nil
}
