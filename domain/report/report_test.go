package report_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/report"
)

var (
	started  = report.BuildStarted{Worker: "w1", Attempt: 1}
	failed   = report.Failed{Code: report.CodeAbandoned, Message: "Five attempts to build this report failed. Request it again."}
	sent     = report.EmailSent{MemberID: ana, MessageID: "<1.ana@muster>", SMTPCode: 250}
	bounced  = report.EmailFailed{MemberID: ana, MessageID: "<1.ana@muster>", SMTPCode: 550, Reason: "mailbox unavailable"}
	expired  = report.Expired{ExpiredAt: noon.Add(30 * 24 * time.Hour)}
	expiry   = noon.Add(30 * 24 * time.Hour)
	gathered = report.StepCompleted{Step: 1, TotalSteps: 3, Label: "Gather"}
)

func TestTheLifeOfARequest(t *testing.T) {
	t.Parallel()
	for _, s := range []scenario{
		{
			name: "asked for, it is Queued",
			when: func(r *report.Report) ([]report.Event, error) { return r.Request(queued(ana, ben)) },
			then: []report.Event{queued(ana, ben)},
		},
		{
			name:  "generation starts",
			given: given(queued(ana)),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Start("w1", 1, "") },
			then:  []report.Event{started},
		},
		{
			name:  "another worker takes over: the trail shows it, the state does not move",
			given: given(queued(ana), started),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Start("w2", 2, "lease expired") },
			then:  []report.Event{report.BuildResumed{Worker: "w2", Attempt: 2, Reason: "lease expired"}},
		},
		{
			name:  "generation succeeds: the recipients of now, and the window from now",
			given: given(queued(ana), report.Reused{RequesterID: ben, Added: []uuid.UUID{ben}}, started),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Ready(built(digestB), noon) },
			then:  []report.Event{ready(ana, ben)},
		},
		{
			name:  "generation fails",
			given: given(queued(ana), started),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Fail(failed) },
			then:  []report.Event{failed},
		},
		{
			name:  "a job that fails before it started goes through Building",
			given: given(queued(ana)),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Fail(failed) },
			then:  []report.Event{report.BuildStarted{}, failed},
		},
		{
			name:  "the retention window elapses",
			given: given(queued(ana), started, ready(ana)),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Expire(expiry) },
			then:  []report.Event{expired},
		},
		{
			name:  "a moment before, it has not elapsed",
			given: given(queued(ana), started, ready(ana)),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Expire(expiry.Add(-time.Microsecond)) },
			err:   &report.NotDueError{Due: expiry},
		},
		{
			name:  "a report that failed does not become Ready after all",
			given: given(queued(ana), started, failed),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Ready(built(digestB), noon) },
			err:   &report.TransitionError{From: report.StatusFailed, Event: "report.ready"},
		},
		{
			name:  "a second worker with another file meets the one that won",
			given: given(queued(ana), started, ready(ana)),
			when:  func(r *report.Report) ([]report.Event, error) { return r.Ready(built(digestA), noon) },
			err:   &report.TransitionError{From: report.StatusReady, Event: "report.ready"},
		},
		{
			name:  "a Ready without a file is none",
			given: given(queued(ana), started),
			when: func(r *report.Report) ([]report.Event, error) {
				e := built(digestB)
				e.PDFSHA256, e.SizeBytes = "", 0
				return r.Ready(e, noon)
			},
			err: fmt.Errorf("any"),
		},
		{
			name: "without a sentence a failure helps nobody",
			when: func(r *report.Report) ([]report.Event, error) {
				return r.Fail(report.Failed{Code: report.CodeAbandoned})
			},
			given: given(queued(ana), started),
			err:   fmt.Errorf("any"),
		},
	} {
		s.run(t)
	}
}

func TestAskingAgainJoinsTheRequest(t *testing.T) {
	t.Parallel()
	people := make([]uuid.UUID, report.MaxRecipients)
	for i := range people {
		people[i] = uuid.UUID{15: byte(i + 1)}
	}
	for _, s := range []scenario{
		{
			name:  "the second caller and their extras become recipients",
			given: given(queued(ana)),
			when:  reuse(ben, ana, cleo, cleo),
			then:  []report.Event{report.Reused{RequesterID: ben, Added: []uuid.UUID{ben, cleo}, NotAdded: []uuid.UUID{}}},
		},
		{
			name:  "the same member again adds nobody, and the trail shows it",
			given: given(queued(ana), started),
			when:  reuse(ana),
			then:  []report.Event{report.Reused{RequesterID: ana, Added: []uuid.UUID{}, NotAdded: []uuid.UUID{}}},
		},
		{
			name:  "who does not fit into twenty is named, the caller before their extras",
			given: given(queued(people[:19]...)),
			when:  reuse(ben, cleo, people[3]),
			then:  []report.Event{report.Reused{RequesterID: ben, Added: []uuid.UUID{ben}, NotAdded: []uuid.UUID{cleo}}},
		},
		{
			name:  "into a full list not even the caller fits",
			given: given(queued(people...)),
			when:  reuse(ben),
			then:  []report.Event{report.Reused{RequesterID: ben, Added: []uuid.UUID{}, NotAdded: []uuid.UUID{ben}}},
		},
		{
			name:  "a report that is Ready is not joined any more",
			given: given(queued(ana), started, ready(ana)),
			when:  reuse(ben),
			err:   &report.TransitionError{From: report.StatusReady, Event: "report.reused"},
		},
	} {
		s.run(t)
	}
}

func reuse(requester uuid.UUID, extras ...uuid.UUID) func(r *report.Report) ([]report.Event, error) {
	return func(r *report.Report) ([]report.Event, error) {
		_, events, err := r.Reuse(requester, extras, nil)
		return events, err
	}
}

func TestARepeatedFactMakesNoEvent(t *testing.T) {
	t.Parallel()
	isReady := given(queued(ana, ben), started, ready(ana, ben))
	for _, s := range []scenario{
		{name: "the same start", given: given(queued(ana), started),
			when: func(r *report.Report) ([]report.Event, error) { return r.Start("w1", 1, "again") }},
		{name: "the same step", given: given(queued(ana), started, gathered),
			when: func(r *report.Report) ([]report.Event, error) { return r.CompleteStep(gathered) }},
		{name: "the same Ready", given: isReady,
			when: func(r *report.Report) ([]report.Event, error) { return r.Ready(built(digestB), noon.Add(time.Hour)) }},
		{name: "the same Ready once expired", given: and(isReady, past{expired, expiry}),
			when: func(r *report.Report) ([]report.Event, error) { return r.Ready(built(digestB), expiry) }},
		{name: "the same failure", given: given(queued(ana), started, failed),
			when: func(r *report.Report) ([]report.Event, error) { return r.Fail(failed) }},
		{name: "the same expiry", given: and(isReady, past{expired, expiry}),
			when: func(r *report.Report) ([]report.Event, error) { return r.Expire(expiry) }},
		{name: "the same mail", given: and(isReady, past{sent, noon}),
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordMail(sent) }},
		{name: "a failure after the mail was sent", given: and(isReady, past{sent, noon}),
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordMail(bounced) }},
		{name: "the same bounce", given: and(isReady, past{bounced, noon}),
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordMail(bounced) }},
		{name: "a download within the hour", given: and(isReady, past{report.Downloaded{MemberID: ana}, noon}),
			when: func(r *report.Report) ([]report.Event, error) {
				return r.RecordDownload(ana, report.PDFFile, noon.Add(time.Hour-time.Microsecond))
			}},
		{name: "a download by a clock that is behind", given: and(isReady, past{report.Downloaded{MemberID: ana}, noon}),
			when: func(r *report.Report) ([]report.Event, error) {
				return r.RecordDownload(ana, report.PDFFile, noon.Add(-time.Minute))
			}},
		{name: "the same erasure", given: and(isReady, past{report.InputsErased{Rule: "retention"}, noon}),
			when: func(r *report.Report) ([]report.Event, error) { return r.EraseInputs("member_erased") }},
	} {
		s.run(t)
	}
}

func TestMailAndDownloads(t *testing.T) {
	t.Parallel()
	isReady := given(queued(ana, ben), started, ready(ana, ben))
	for _, s := range []scenario{
		{name: "a mail that failed may be sent when somebody tries again", given: and(isReady, past{bounced, noon}),
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordMail(sent) }, then: []report.Event{sent}},
		{name: "a mail is still under way when the report expires", given: and(isReady, past{expired, expiry}),
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordMail(sent) }, then: []report.Event{sent}},
		{name: "somebody who is no recipient was not mailed", given: given(queued(ben), started, ready(ben)),
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordMail(sent) },
			err:  &report.NotRecipientError{MemberID: ana}},
		{name: "an hour later a download counts again", given: and(isReady, past{report.Downloaded{MemberID: ana}, noon}),
			when: func(r *report.Report) ([]report.Event, error) {
				return r.RecordDownload(ana, report.PDFFile, noon.Add(time.Hour))
			},
			then: []report.Event{report.Downloaded{MemberID: ana}}},
		{name: "another member's download is their own", given: and(isReady, past{report.Downloaded{MemberID: ana}, noon}),
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordDownload(ben, report.PDFFile, noon) },
			then: []report.Event{report.Downloaded{MemberID: ben}}},
		{name: "another file's download is its own", given: and(isReady, past{report.Downloaded{MemberID: ana}, noon}),
			when: func(r *report.Report) ([]report.Event, error) {
				return r.RecordDownload(ana, report.FindingsFile, noon)
			},
			then: []report.Event{report.Downloaded{MemberID: ana, File: report.FindingsFile}}},
		{name: "once an hour, too", given: and(isReady, past{report.Downloaded{MemberID: ana, File: report.FindingsFile}, noon}),
			when: func(r *report.Report) ([]report.Event, error) {
				return r.RecordDownload(ana, report.FindingsFile, noon)
			}},
		{name: "a table ends with the report", given: and(isReady, past{expired, expiry}),
			when: func(r *report.Report) ([]report.Event, error) {
				return r.RecordDownload(ana, report.FindingsFile, expiry)
			},
			err: &report.TransitionError{From: report.StatusExpired, Event: "report.downloaded"}},
		{name: "the inputs outlive it", given: isReady,
			when: func(r *report.Report) ([]report.Event, error) {
				return r.RecordDownload(ana, report.InputsFile, expiry)
			},
			then: []report.Event{report.Downloaded{MemberID: ana, File: report.InputsFile}}},
		{name: "expired by the clock is expired, swept or not", given: isReady,
			when: func(r *report.Report) ([]report.Event, error) { return r.RecordDownload(ana, report.PDFFile, expiry) },
			err:  &report.TransitionError{From: report.StatusExpired, Event: "report.downloaded"}},
		{name: "a step of the next attempt is a step", given: given(queued(ana), started, gathered, report.BuildResumed{Worker: "w2", Attempt: 2}),
			when: func(r *report.Report) ([]report.Event, error) { return r.CompleteStep(gathered) }, then: []report.Event{gathered}},
	} {
		s.run(t)
	}
}

// statuses is every state, with the facts that lead there.
func statuses() map[report.Status][]past {
	return map[report.Status][]past{
		"":                    nil,
		report.StatusQueued:   given(queued(ana)),
		report.StatusBuilding: given(queued(ana), started),
		report.StatusReady:    given(queued(ana), started, ready(ana)),
		report.StatusFailed:   given(queued(ana), started, failed),
		report.StatusExpired:  and(given(queued(ana), started, ready(ana)), past{expired, expiry}),
	}
}

// TestTransitionsMatchTheSpecification: every pair of state and event is compared with the specification's
// table, which is repeated here on purpose.
func TestTransitionsMatchTheSpecification(t *testing.T) {
	t.Parallel()
	type pair struct {
		from  report.Status
		event string
	}
	table := map[pair]report.Status{
		{"", "report.queued"}:                            report.StatusQueued,
		{report.StatusQueued, "report.reused"}:           report.StatusQueued,
		{report.StatusQueued, "report.build_started"}:    report.StatusBuilding,
		{report.StatusBuilding, "report.reused"}:         report.StatusBuilding,
		{report.StatusBuilding, "report.build_resumed"}:  report.StatusBuilding,
		{report.StatusBuilding, "report.step_completed"}: report.StatusBuilding,
		{report.StatusBuilding, "report.ready"}:          report.StatusReady,
		{report.StatusBuilding, "report.failed"}:         report.StatusFailed,
		{report.StatusReady, "report.signed"}:            report.StatusReady,
		{report.StatusReady, "report.downloaded"}:        report.StatusReady,
		{report.StatusReady, "report.email_sent"}:        report.StatusReady,
		{report.StatusReady, "report.email_failed"}:      report.StatusReady,
		{report.StatusReady, "report.inputs_erased"}:     report.StatusReady,
		{report.StatusReady, "report.expired"}:           report.StatusExpired,
		{report.StatusExpired, "report.downloaded"}:      report.StatusExpired,
		{report.StatusExpired, "report.email_sent"}:      report.StatusExpired,
		{report.StatusExpired, "report.email_failed"}:    report.StatusExpired,
		{report.StatusExpired, "report.inputs_erased"}:   report.StatusExpired,
	}
	pairs := 0
	for from, facts := range statuses() {
		if got := fold(facts).Status(); got != from {
			t.Fatalf("the facts of %q lead to %q", from, got)
		}
		for _, event := range report.Events() {
			name := report.Name(event)
			pairs++
			to, allowed := report.Next(from, event)
			want, listed := table[pair{from, name}]
			if allowed != listed || listed && to != want {
				t.Errorf("%q, %s: leads to %q (%v), the table says %q (%v)", from, name, to, allowed, want, listed)
			}
		}
	}
	if want := 6 * 13; pairs != want {
		t.Errorf("walked %d pairs, want %d", pairs, want)
	}
	if n := len(report.Transitions()); n != len(table) {
		t.Errorf("the code's table has %d rows, the specification's %d", n, len(table))
	}
}

func signature(key string) report.Signed {
	return report.Signed{SHA256: digestB, Key: key, SizeBytes: 1 << 20, KeyID: "k"}
}

// TestASignatureIsMadeOnce, unless its file was lost.
func TestASignatureIsMadeOnce(t *testing.T) {
	t.Parallel()
	ready := statuses()[report.StatusReady]
	signed := append(slices.Clone(ready), past{signature("1"), noon})
	for _, s := range []scenario{
		{name: "first", given: ready, when: func(r *report.Report) ([]report.Event, error) { return r.Sign(signature("1"), false) }, then: []report.Event{signature("1")}},
		{name: "again", given: signed, when: func(r *report.Report) ([]report.Event, error) { return r.Sign(signature("2"), false) }},
		{name: "the same file, lost", given: signed, when: func(r *report.Report) ([]report.Event, error) { return r.Sign(signature("1"), true) }},
		{name: "another file, lost", given: signed, when: func(r *report.Report) ([]report.Event, error) { return r.Sign(signature("2"), true) }, then: []report.Event{signature("2")}},
	} {
		s.run(t)
	}
	for name, broken := range map[string]report.Signed{
		"digest": {SHA256: "x", Key: "1", SizeBytes: 1 << 20, KeyID: "k"}, "key": {SHA256: digestB, SizeBytes: 1 << 20, KeyID: "k"},
		"size": {SHA256: digestB, Key: "1", SizeBytes: 1, KeyID: "k"}, "key id": {SHA256: digestB, Key: "1", SizeBytes: 1 << 20},
	} {
		r := fold(ready)
		if events, err := r.Sign(broken, false); err == nil || events != nil {
			t.Errorf("one without %s is recorded: %v", name, events)
		}
	}
}

// TestDecisionsOutsideTheTableAreRefused tries every decision in every state,
// with a fact that is new there.
func TestDecisionsOutsideTheTableAreRefused(t *testing.T) {
	t.Parallel()
	decisions := map[string]func(r *report.Report) ([]report.Event, error){
		"report.queued":         func(r *report.Report) ([]report.Event, error) { return r.Request(queued(ben)) },
		"report.reused":         reuse(ben),
		"report.build_started":  func(r *report.Report) ([]report.Event, error) { return r.Start("w9", 9, "new") },
		"report.step_completed": func(r *report.Report) ([]report.Event, error) { return r.CompleteStep(report.StepCompleted{Step: 9}) },
		"report.ready":          func(r *report.Report) ([]report.Event, error) { return r.Ready(built(digestA), noon) },
		"report.failed": func(r *report.Report) ([]report.Event, error) {
			return r.Fail(report.Failed{Code: report.CodeRenderFailed, Message: "The document could not be drawn."})
		},
		"report.expired":       func(r *report.Report) ([]report.Event, error) { return r.Expire(expiry) },
		"report.email_sent":    func(r *report.Report) ([]report.Event, error) { return r.RecordMail(sent) },
		"report.email_failed":  func(r *report.Report) ([]report.Event, error) { return r.RecordMail(bounced) },
		"report.downloaded":    func(r *report.Report) ([]report.Event, error) { return r.RecordDownload(ana, report.PDFFile, noon) },
		"report.inputs_erased": func(r *report.Report) ([]report.Event, error) { return r.EraseInputs("retention") },
		"report.signed":        func(r *report.Report) ([]report.Event, error) { return r.Sign(signature("1"), false) },
	}
	events := map[string]report.Event{}
	for _, e := range report.Events() {
		events[report.Name(e)] = e
	}
	for from, facts := range statuses() {
		for name, when := range decisions {
			s := scenario{name: fmt.Sprintf("%s in %q", name, from), given: facts, when: when}
			_, allowed := report.Next(from, events[name])
			switch {
			case allowed, from == report.StatusExpired && name == "report.expired": // a fact that comes twice
				continue
			case name == "report.build_started" && from == report.StatusBuilding: // resumes
				continue
			case name == "report.failed" && from == report.StatusQueued: // goes through Building
				continue
			}
			s.err = &report.TransitionError{From: from, Event: name}
			s.run(t)
		}
	}
}

func TestStatusAtFollowsTheClock(t *testing.T) {
	t.Parallel()
	r := fold(given(queued(ana), started, ready(ana)))
	if got := r.StatusAt(expiry.Add(-time.Microsecond)); got != report.StatusReady {
		t.Errorf("before the end of its window: %s", got)
	}
	if got := r.StatusAt(expiry); got != report.StatusExpired {
		t.Errorf("at the end of its window: %s", got)
	}
}
