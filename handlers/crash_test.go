package handlers_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
	"muster/handlers"
	"muster/handlers/jobs"
)

// dead is a worker that stops forever at a point, as if it was killed there: it neither
// continues nor answers. resume wakes it up, as a worker that only seemed dead.
type dead struct {
	at      string
	reached chan struct{}
	resumed chan struct{}
	once    sync.Once
}

func diesAt(at string) *dead {
	return &dead{at: at, reached: make(chan struct{}), resumed: make(chan struct{})}
}

func (d *dead) pass(_ context.Context, at string) error {
	if at == d.at {
		first := false
		d.once.Do(func() { first = true })
		if first {
			close(d.reached)
			select {
			case <-d.resumed:
			case <-time.After(2 * patience): // the test has failed: let it end
			}
		}
	}
	return nil
}

func (d *dead) resume() { close(d.resumed) }

// A worker is killed between any two steps, another takes over, and later the
// first one turns out to be alive after all.
func TestAWorkerDiesBetweenAnyTwoStepsOfABuild(t *testing.T) {
	t.Parallel()
	for _, at := range []string{
		handlers.PointStarted, handlers.PointGathered, handlers.PointInputsStored, handlers.PointPDFStored, handlers.PointCommitted,
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			id := s.request(s.ana, s.bob)
			killed := diesAt(at)
			b := s.builder()
			b.OnPass(killed.pass)
			stopFirst := s.work("w1", b.Task(1))
			<-killed.reached
			s.lapse(jobs.Build)
			s.work("w2", s.tasks()...)
			s.until("every recipient has their mail", func() bool { return s.count(id, "report.email_sent") == 2 })
			s.until("the PDF is signed", func() bool { return s.has(id, "report.signed") })
			s.checkOneReady(id)

			killed.resume()
			stopFirst() // returns when the revived worker has given up
			s.sweep()
			s.checkOneReady(id)
			signed, _ := last[report.Signed](s, id)
			if ready, _ := last[report.Ready](s, id); !slices.Equal(s.stored(), sorted(append(files(ready), ready.InputsKey, signed.Key)...)) {
				t.Errorf("files %v, want those of the event: %v, %s", s.stored(), files(ready), ready.InputsKey)
			}
			if resumed := s.has(id, "report.build_resumed"); resumed != (at != handlers.PointCommitted) {
				t.Errorf("buildResumed in the trail: %v", resumed)
			}
			for _, name := range []string{"ana", "bob"} {
				if got := len(s.smtp.To(s.address(name))); got != 1 {
					t.Errorf("%s got %d mails", name, got)
				}
			}
		})
	}
}

// files are what ends with a report: the PDF and its tables.
func files(ready report.Ready) []string {
	names := []string{ready.PDFKey}
	for _, f := range ready.Files {
		names = append(names, f.Key)
	}
	return names
}

func sorted(names ...string) []string {
	slices.Sort(names)
	return names
}

func (s *scene) checkOneReady(id uuid.UUID) {
	s.t.Helper()
	if n := s.count(id, "report.ready"); n != 1 || s.has(id, "report.failed") {
		s.t.Errorf("%d Ready, events %v", n, s.types(id))
	}
	ready, _ := last[report.Ready](s, id)
	for _, name := range []string{ready.PDFKey, ready.InputsKey} {
		if _, err := s.blobs.Digest(s.t.Context(), name); err != nil {
			s.t.Errorf("the file %s that the event names: %v", name, err)
		}
	}
}

func TestAWorkerDiesBetweenSendingAndRecording(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	killed := diesAt(handlers.PointSent)
	m := s.mailer()
	m.OnPass(killed.pass)
	stopFirst := s.work("w1", s.builder().Task(1), m.Task(1))
	<-killed.reached
	s.lapse(jobs.Mail)
	s.work("w2", s.mailer().Task(1))
	s.until("the mail is recorded", func() bool { return s.has(id, "report.email_sent") })
	killed.resume()
	stopFirst()

	mails := s.smtp.To(s.address("ana"))
	if len(mails) != 2 || mails[0].Header("Message-Id") != mails[1].Header("Message-Id") || mails[0].Header("Message-Id") == "" {
		t.Errorf("%d mails, want two with one Message-ID", len(mails))
	}
	if mails[0].Data != mails[1].Data {
		t.Errorf("the two are not the same:\n%s\n%s", mails[0].Data, mails[1].Data)
	}
	if n := s.count(id, "report.email_sent"); n != 1 {
		t.Errorf("recorded %d times", n)
	}
}

func TestABrokenConnectionAfterTheMessageSendsItAgainUnderTheSameID(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.smtp.DropNext(1)
	id := s.request(s.ana)
	s.work("w1", s.tasks()...)
	s.until("the first attempt failed", func() bool {
		rows := s.jobs(jobs.Mail)
		return len(rows) == 1 && rows[0].LastError != ""
	})
	s.due(jobs.Mail)
	s.until("the mail is recorded", func() bool { return s.has(id, "report.email_sent") })
	mails := s.smtp.To(s.address("ana"))
	if len(mails) != 2 || mails[0].Header("Message-Id") != mails[1].Header("Message-Id") {
		t.Errorf("%d mails, want two with one Message-ID", len(mails))
	}
}

// A report that kills every worker that touches it.
func TestAReportThatKillsItsWorkersEndsFailed(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]string{"after it started": handlers.PointStarted, "before it started": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			id := s.request(s.ana)
			for range 5 {
				if at == "" { // five claims that nothing came of
					s.exec(`UPDATE jobs SET attempts = attempts + 1, worker_id = 'gone', fence = nextval('job_fence'), due_at = now() WHERE kind = 'build'`)
					continue
				}
				killed := diesAt(at)
				b := s.builder()
				b.OnPass(killed.pass)
				stop := s.work(uuid.NewString(), b.Task(1))
				<-killed.reached
				t.Cleanup(func() { killed.resume(); stop() })
				s.lapse(jobs.Build)
			}
			s.work("last", s.builder().Task(1))
			s.until("Failed", func() bool { return s.has(id, "report.failed") })
			if failed, _ := last[report.Failed](s, id); failed.Code != report.CodeAbandoned {
				t.Errorf("recorded %+v", failed)
			}
			if !s.has(id, "report.build_started") {
				t.Errorf("Failed without Building: %v", s.types(id))
			}
			rows, err := s.queue.Dead(t.Context(), s.organization, 10)
			if err != nil || len(rows) != 1 || rows[0].Attempts != 5 {
				t.Errorf("set aside: %+v %v", rows, err)
			}
		})
	}
}

func (s *scene) exec(query string, args ...any) {
	s.t.Helper()
	if _, err := s.db.ExecContext(s.t.Context(), query, args...); err != nil {
		s.t.Fatal(err)
	}
}

func TestAPanicIsAnAttemptThatFailed(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	b := s.builder()
	var once sync.Once
	b.OnPass(func(_ context.Context, at string) error {
		if at == handlers.PointGathered {
			once.Do(func() { panic("index out of range") })
		}
		return nil
	})
	s.work("w1", b.Task(1))
	s.until("the attempt failed", func() bool {
		rows := s.jobs(jobs.Build)
		return len(rows) == 1 && rows[0].LastError != ""
	})
	s.due(jobs.Build)
	s.until("Ready", func() bool { return s.has(id, "report.ready") })
}

// SIGTERM while a build runs.
func TestStoppingLetsABuildFinish(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	id := s.request(s.ana)
	running := diesAt(handlers.PointGathered)
	b := s.builder()
	b.OnPass(running.pass)
	stop := s.work("w1", b.Task(1))
	<-running.reached
	other := s.requestKind(report.DataInventory)
	stopped := make(chan struct{})
	go func() { stop(); close(stopped) }()
	running.resume()
	<-stopped
	if !s.has(id, "report.ready") {
		t.Errorf("the running build did not finish: %v", s.types(id))
	}
	if rows := s.jobs(jobs.Build); s.has(other, "report.ready") || len(rows) != 1 || rows[0].Attempts != 0 {
		t.Errorf("a build was claimed after the stop: %+v", rows)
	}
}

func TestAFinalErrorOfAMail(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	tx := s.db.MustBegin()
	if err := s.queue.Insert(t.Context(), tx, jobs.Job{OrganizationID: s.organization, Kind: jobs.Mail, Subject: uuid.New(), Key: "nobody"}); err != nil {
		t.Fatal(err)
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	s.work("w1", s.mailer().Task(1))
	s.until("set aside at once", func() bool {
		rows := s.jobs(jobs.Mail)
		return len(rows) == 1 && rows[0].Status == jobs.StatusDead && rows[0].Attempts == 1
	})
}

// TestABurialThatFailsKeepsTheReason: a report whose last attempt failed because
// its sources could not be read ends with that reason, though the database could
// not record the end at that moment; and it is counted once.
func TestABurialThatFailsKeepsTheReason(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.exec(`CREATE SEQUENCE burials;
		CREATE FUNCTION fail_burial() RETURNS trigger LANGUAGE plpgsql AS $$
		BEGIN
			IF nextval('burials') = 1 THEN RAISE EXCEPTION 'no' USING ERRCODE = '58030'; END IF;
			RETURN NULL;
		END $$;
		CREATE CONSTRAINT TRIGGER fail_burial AFTER UPDATE ON jobs DEFERRABLE INITIALLY DEFERRED
		FOR EACH ROW WHEN (OLD.dead_at IS NULL AND NEW.dead_at IS NOT NULL) EXECUTE FUNCTION fail_burial()`)
	id := s.request(s.ana)
	s.exec(`UPDATE jobs SET attempts = 4`)
	s.gatherer.fail(&handlers.SourceError{What: "findings", Err: errors.New("away")})
	b := s.builder()
	ended := make(chan report.Status, 9)
	b.Ended = func(_ report.Kind, status report.Status, _ time.Duration) { ended <- status }
	stop := s.work("w1", b.Task(1))
	s.until("put back", func() bool { r := s.jobs(jobs.Build)[0]; return r.LastError != "" && r.WorkerID == "" })
	if s.has(id, "report.failed") || len(ended) != 0 {
		t.Errorf("a burial that was rolled back is told: %d times, %v", len(ended), s.types(id))
	}
	s.due(jobs.Build)
	s.until("Failed", func() bool { return s.has(id, "report.failed") })
	stop()
	if got, _ := last[report.Failed](s, id); got.Code != report.CodeSourceUnavailable {
		t.Errorf("recorded %+v", got)
	}
	row := s.jobs(jobs.Build)[0]
	if row.Attempts != 5 || !strings.Contains(row.LastError, "away") || len(row.Endings) != 1 || row.Endings[0].Class != "source_unavailable" {
		t.Errorf("set aside as %+v", row)
	}
	if len(ended) != 1 || <-ended != report.StatusFailed {
		t.Errorf("the end is told %d times more", len(ended))
	}
}

// TestAWorkerTakesItsJobFirst: in every transaction of a worker the job is the first lock
// (package commands). So two workers of one report, or a worker and a member who requests it,
// wait for each other and do not deadlock.
func TestAWorkerTakesItsJobFirst(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		at   string // the transaction behind this point; none: the first one
		kind jobs.JobKind
	}{
		"the start":       {"", jobs.Build},
		"a step":          {handlers.PointInputsStored, jobs.Build},
		"Ready":           {handlers.PointPDFStored, jobs.Build},
		"a mail's record": {handlers.PointSent, jobs.Mail},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newScene(t)
			id := s.request(s.ana)
			held := s.db.MustBegin() // another writer of the report's stream
			defer func() { _ = held.Rollback() }()
			lock := func() { held.MustExec(`SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, id.String()) }
			b, m := s.builder(), s.mailer()
			take := func(_ context.Context, at string) error {
				if at == tc.at {
					lock()
				}
				return nil
			}
			b.OnPass(take)
			m.OnPass(take)
			if tc.at == "" {
				lock()
			}
			s.work("w1", b.Task(1), m.Task(1))
			s.until("the worker waits for the stream", func() bool {
				var waits bool
				err := s.db.Get(&waits, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'advisory')`)
				return err == nil && waits
			})
			var free int
			err := s.db.Get(&free, `SELECT count(*) FROM (SELECT FROM jobs WHERE kind = $1 FOR UPDATE SKIP LOCKED) AS free`, string(tc.kind))
			if err != nil || free != 0 {
				t.Errorf("the worker holds the stream's queue and not its job: %d free, %v", free, err)
			}
			if err := held.Commit(); err != nil {
				t.Fatal(err)
			}
			s.until("the mail is recorded", func() bool { return s.has(id, "report.email_sent") })
		})
	}
}
