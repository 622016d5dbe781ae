package secrets_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"muster/internal/secrets"
)

// wantMark is a mark that installations have stored: its derivation must never change.
const wantMark = "9d894b699eeac5e9:a04144c5591de2ecdc90f6e63197b5c6bf01885f6d04d8190f137ba051c2a9a7"

func (v vault) marks(ring *secrets.Ring) *secrets.Marks {
	v.Helper()
	marks, err := ring.Marks(v.Context(), v.db)
	if err != nil {
		v.Fatal(err)
	}
	return marks
}

// head moves the log of reports, as appends do.
func (v vault) head(position int64) {
	v.db.MustExec(`UPDATE log_head SET position = $1 WHERE log = 'reports'`, position)
}

func (v vault) begin(ring *secrets.Ring, spare string, older bool) secrets.Begun {
	v.Helper()
	return v.beginAt(ring, spare, noon, older)
}

func (v vault) beginAt(ring *secrets.Ring, spare string, at time.Time, older bool) secrets.Begun {
	v.Helper()
	begun, err := ring.BeginMarks(v.Context(), v.db, spare, at, func(context.Context) (bool, error) { return older, nil })
	if err != nil {
		v.Fatal(err)
	}
	return begun
}

func reports(position int64) secrets.Place { return secrets.Place{Log: "reports", Position: position} }

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func TestAMarkIsOfItsTextAndPurposeAlone(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	ring := v.check()
	text := secrets.MarkText("report 1", "organization 1", "ab")
	mark := ring.Mark(secrets.MarkReport, text)
	if !strings.HasPrefix(mark, ring.Fingerprint()+":") {
		t.Errorf("%s does not name its key", mark)
	}
	if err := v.marks(ring).Marked(secrets.MarkReport, text, mark, reports(1)); err != nil {
		t.Error(err)
	}
	elsewhere, err := secrets.LoadOrCreate(filepath.Join(t.TempDir(), "secret.key"))
	if err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]struct {
		purpose, mark string
		text          []byte
	}{
		"another text":           {secrets.MarkReport, mark, secrets.MarkText("report 2", "organization 1", "ab")},
		"fields that have moved": {secrets.MarkReport, mark, secrets.MarkText("report 1", "organization 1a", "b")},
		"another purpose":        {secrets.MarkAssessment, mark, text},
		"none":                   {secrets.MarkReport, "", text},
		"cut":                    {secrets.MarkReport, mark[:len(mark)-2], text},
		"no key":                 {secrets.MarkReport, mark[17:], text},
		"another installation's": {secrets.MarkReport, elsewhere.Mark(secrets.MarkReport, text), text},
		"another's with our id":  {secrets.MarkReport, mark[:17] + elsewhere.Mark(secrets.MarkReport, text)[17:], text},
	} {
		var untrue *secrets.MarkError
		err := v.marks(ring).Marked(refused.purpose, refused.text, refused.mark, reports(1))
		if !errors.As(err, &untrue) || untrue.None != (refused.mark == "") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAMarkIsDerivedTheSameForEver(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "secret.key")
	if err := os.WriteFile(path, []byte(strings.Repeat("a7", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	ring, err := secrets.Load(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := ring.Mark(secrets.MarkReport, secrets.MarkText("a report", "an organization")); got != wantMark {
		t.Errorf("mark %s, was %s", got, wantMark)
	}
}

// TestMarksUnderARetiredKeyCountUpToItsEnd: a thief with a key that was retired, and with the
// database, marks nothing that is appended since.
func TestMarksUnderARetiredKeyCountUpToItsEnd(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	running, thief := v.check(), v.copied()
	text := secrets.MarkText("report 1")
	mark := running.Mark(secrets.MarkReport, text)
	v.head(7)
	v.mustRotate()
	if err := v.marks(running).Marked(secrets.MarkReport, text, mark, reports(9)); err != nil {
		t.Errorf("under the old key that is still in the file: %v", err)
	}
	v.head(9)
	if _, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); err != nil {
		t.Fatal(err)
	}
	v.head(20)
	for range 2 { // the rows are sealed again by the second rotation
		if err := v.marks(running).Marked(secrets.MarkReport, text, mark, reports(9)); err != nil {
			t.Errorf("before the key was retired: %v", err)
		}
		var late *secrets.MarkError
		stolen := thief.Mark(secrets.MarkReport, text)
		if err := v.marks(running).Marked(secrets.MarkReport, text, stolen, reports(10)); !errors.As(err, &late) || !strings.Contains(err.Error(), "retired at reports:9") {
			t.Errorf("after it was: %v", err)
		}
		v.mustRotate()
		if _, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); err != nil {
			t.Fatal(err)
		}
	}

	v.db.MustExec(`UPDATE marks SET sealed = (SELECT sealed FROM marks WHERE name <> $1 LIMIT 1) WHERE name = $1`, "retired "+thief.Fingerprint())
	if err := v.marks(running).Marked(secrets.MarkReport, text, mark, reports(9)); err == nil {
		t.Error("what is kept of another retired key vouches for this one's marks")
	}
	v.db.MustExec(`DELETE FROM marks`)
	if err := v.marks(running).Marked(secrets.MarkReport, text, mark, reports(9)); err == nil {
		t.Error("a retired key of which nothing is kept vouches for its marks")
	}
}

// TestAKeyThatStaysInTheFileIsRetiredOnce: where an orchestrator hands the file in, the old
// line may stay for long, and retiring again must not give its marks more time.
func TestAKeyThatStaysInTheFileIsRetiredOnce(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	running := v.check()
	mark := running.Mark(secrets.MarkReport, nil)
	v.mustRotate()
	both := v.content()
	for position := range int64(2) {
		v.head(position + 5)
		if err := os.WriteFile(v.path, []byte(both), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(v.path, []byte(both), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := v.marks(running).Marked(secrets.MarkReport, nil, mark, reports(5)); err != nil {
		t.Error(err)
	}
	if err := v.marks(running).Marked(secrets.MarkReport, nil, mark, reports(6)); err == nil {
		t.Error("the second retirement gave the key's marks more time")
	}
}

// TestEventsWithoutMarksEndAtTheFirstStart, whatever SQL does to the note.
func TestEventsWithoutMarksEndAtTheFirstStart(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	v.head(40)
	first := v.check()
	if v.marks(first).Before(reports(1)) {
		t.Error("nothing is noted, and an event is from before")
	}
	if begun := v.begin(first, "", false); !begun.Noted || begun.Open || begun.Until["reports"] != 40 || !strings.Contains(begun.String(), "reports:40") {
		t.Errorf("the first start noted %+v", begun)
	}
	holds := func(when string, ring *secrets.Ring, until int64) {
		t.Helper()
		if marks := v.marks(ring); !marks.Before(reports(until)) || marks.Before(reports(until+1)) {
			t.Errorf("%s: not up to %d", when, until)
		}
	}
	holds("at the first start", first, 40)
	v.head(50)
	if begun := v.beginAt(first, "", noon.Add(time.Hour), false); begun.Noted {
		t.Errorf("the second start noted %+v", begun)
	}
	replica := v.check()
	holds("in another process", replica, 40)

	var sealed []byte
	if err := v.db.Get(&sealed, `DELETE FROM marks RETURNING sealed`); err != nil {
		t.Fatal(err)
	}
	holds("deleted under a running process", first, 40)
	if v.marks(v.check()).Before(reports(1)) {
		t.Error("deleted: a process that knows nothing takes an event for one from before")
	}
	restarted := v.check()
	v.beginAt(restarted, "", noon.Add(2*time.Hour), false)
	holds("deleted before a start", restarted, 40)
	holds("and written again", v.check(), 40)

	v.db.MustExec(`UPDATE marks SET sealed = set_byte(sealed, 60, get_byte(sealed, 60) # 1)`)
	restarted = v.check()
	v.beginAt(restarted, "", noon.Add(2*time.Hour), false)
	holds("damaged before a start", restarted, 40)

	accepted, err := restarted.AcceptUnmarked(t.Context(), v.db, "", noon.Add(3*time.Hour), func(secrets.Begun) error { return nil })
	if err != nil || accepted.Until["reports"] != 50 {
		t.Fatalf("accepted %+v, %v", accepted, err)
	}
	holds("accepted by an operator", first, 50)
	v.db.MustExec(`UPDATE marks SET sealed = $1`, sealed)
	holds("the row of before put back", first, 50)
	restarted = v.check()
	v.beginAt(restarted, "", noon.Add(4*time.Hour), false)
	holds("the row of before put back before a start", restarted, 50)

	v.mustRotate()
	if _, err := secrets.Retire(t.Context(), v.db, v.path, v.reseal, v.retired); err != nil {
		t.Fatal(err)
	}
	holds("after a rotation and a retirement", v.check(), 50)

	v.head(45)
	restarted = v.check()
	v.beginAt(restarted, "", noon.Add(5*time.Hour), false)
	v.head(60)
	holds("an older backup was restored", restarted, 45)
}

// TestAForeignNoteBesideTheKey is reported, and never makes the next start a first one:
// an attacker who deletes the row in the database can change the installation's id there, too.
func TestAForeignNoteBesideTheKey(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spoil func(v vault, file string)
		says  string // of the note; empty: nothing
		until int64
	}{
		"as it is":                 {func(vault, string) {}, "", 40},
		"the row is gone":          {func(v vault, _ string) { v.db.MustExec(`DELETE FROM marks`) }, "", 40},
		"the file is gone":         {func(_ vault, file string) { remove(t, file) }, "", 40},
		"the file is garbled":      {func(_ vault, file string) { write(t, file, "{") }, "cannot be read", 40},
		"garbled, and the row too": {func(v vault, file string) { write(t, file, "{"); v.db.MustExec(`DELETE FROM marks`) }, "cannot be read", 0},
		"another installation's": {func(v vault, _ string) {
			v.db.MustExec(`UPDATE installation SET fingerprint = 'other' WHERE name = 'id'`)
		}, "of installation", 40},
		"another's, and no row": {func(v vault, _ string) {
			v.db.MustExec(`UPDATE installation SET fingerprint = 'other' WHERE name = 'id'`)
			v.db.MustExec(`DELETE FROM marks`)
		}, "of installation", 0},
		"both are gone, as at a first start": {func(v vault, file string) { remove(t, file); v.db.MustExec(`DELETE FROM marks`) }, "", 50},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			v.head(40)
			v.begin(v.check(), "", false)
			v.head(50)
			c.spoil(v, v.path+".marks")
			restarted := v.check()
			begun := v.beginAt(restarted, "", noon.Add(time.Hour), false)
			if (begun.Odd != "") != (c.says != "") || !strings.Contains(begun.Odd, c.says) {
				t.Errorf("it says %q, want %q", begun.Odd, c.says)
			}
			if marks := v.marks(restarted); c.until > 0 && !marks.Before(reports(c.until)) || marks.Before(reports(c.until+1)) {
				t.Errorf("events may be without a mark not up to %d: %+v", c.until, begun)
			}
			if again := v.beginAt(v.check(), "", noon.Add(2*time.Hour), false); again.Odd != "" || again.Noted {
				t.Errorf("the next start says %q, and noted %+v", again.Odd, again)
			}
		})
	}
}

func remove(t *testing.T, file string) {
	t.Helper()
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
}

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestEarlierReleasesMayRunBesideForADay: during an upgrade, replica by replica, the events
// of old ones count. That ends by our own clock.
func TestEarlierReleasesMayRunBesideForADay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		after time.Duration
		older bool
		open  bool
	}{
		"while one runs":               {time.Hour, true, true},
		"the last has gone":            {time.Hour, false, false},
		"one pretends to run for ever": {25 * time.Hour, true, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := newVault(t)
			v.head(5)
			ring := v.check()
			if begun := v.begin(ring, "", true); !begun.Open {
				t.Fatalf("noted %+v", begun)
			}
			v.head(8)
			if begun := v.beginAt(ring, "", noon.Add(test.after), test.older); begun.Open != test.open {
				t.Errorf("noted %+v", begun)
			}
			if marks := v.marks(v.check()); !marks.Before(reports(8)) || marks.Before(reports(9)) != test.open {
				t.Error("not up to where the log went")
			}
		})
	}
}

// TestARotationWaitsForMarksInProgress: else a mark could be made under a key and appended
// after that was retired, and a genuine report would never be signed.
func TestARotationWaitsForMarksInProgress(t *testing.T) {
	t.Parallel()
	v := newVault(t)
	running := v.check()
	tx := v.db.MustBegin()
	defer func() { _ = tx.Rollback() }()
	if err := secrets.HoldKeys(t.Context(), tx); err != nil {
		t.Fatal(err)
	}
	rotated := make(chan error, 1)
	go func() {
		_, err := v.rotate()
		if err == nil {
			_, err = secrets.Retire(context.Background(), v.db, v.path, v.reseal, v.retired)
		}
		rotated <- err
	}()
	for waiting := false; !waiting; {
		if len(rotated) > 0 {
			t.Fatal("it did not wait")
		}
		if err := v.db.Get(&waiting, `SELECT EXISTS (SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock')`); err != nil {
			t.Fatal(err)
		}
	}
	mark := running.Mark(secrets.MarkReport, nil)
	tx.MustExec(`UPDATE log_head SET position = 1 WHERE log = 'reports'`)
	if err := errors.Join(tx.Commit(), <-rotated); err != nil {
		t.Fatal(err)
	}
	if len(running.Keys()) != 1 {
		t.Fatal("nothing was retired")
	}
	if err := v.marks(running).Marked(secrets.MarkReport, nil, mark, reports(1)); err != nil {
		t.Error(err)
	}
}
