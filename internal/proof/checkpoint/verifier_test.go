package checkpoint_test

import (
	"errors"
	"log/slog"
	"strings"
	"testing"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/proof/checkpoint"
)

// verifier begins a new step whenever it is asked.
func (h *house) verifier(steps int64) (step func() checkpoint.Verified, said *strings.Builder) {
	said = &strings.Builder{}
	v := checkpoint.NewVerifier(h.db, slog.New(slog.NewTextHandler(said, nil))).WithSteps(steps)
	return func() checkpoint.Verified {
		h.t.Helper()
		h.db.MustExec(`UPDATE log_verifications SET due_at = now()`)
		must(h.t, v.Step(h.t.Context()))
		all, err := v.Verified(h.t.Context())
		must(h.t, err)
		return all[0]
	}, said
}

// asSuperuser does what a superuser of the database does past its triggers.
func (h *house) asSuperuser(statements ...string) {
	h.t.Helper()
	conn, err := h.db.Connx(h.t.Context())
	must(h.t, err)
	defer func() { _ = conn.Close() }()
	for _, s := range append(append([]string{`SET session_replication_role = replica`}, statements...), `RESET session_replication_role`) {
		_, err := conn.ExecContext(h.t.Context(), s)
		must(h.t, err)
	}
}

// changes are an attacker's changes to the events of a log of 600, and their repair.
var changes = map[string]struct{ change, back string }{
	"data":               {`UPDATE events SET data = data || '\x00' WHERE position = 292`, `UPDATE events SET data = '{}' WHERE position = 292`},
	"hash":               {`UPDATE events e SET hash = sha256(e.hash) FROM aside a WHERE e.position = 256 AND a.position = 256`, `UPDATE events e SET hash = a.hash FROM aside a WHERE a.position = e.position`},
	"digest":             {`UPDATE events SET digest = sha256(digest) WHERE position = 257`, `UPDATE events e SET digest = a.digest FROM aside a WHERE a.position = e.position`},
	"recorded time":      {`UPDATE events SET recorded_at = recorded_at + interval '1 us' WHERE position = 300`, `UPDATE events e SET recorded_at = a.recorded_at FROM aside a WHERE a.position = e.position`},
	"version":            {`UPDATE events SET version = 2 WHERE position = 3`, `UPDATE events SET version = 1 WHERE position = 3`},
	"the last deleted":   {`DELETE FROM events WHERE position = 600`, `INSERT INTO events SELECT * FROM aside WHERE position = 600`},
	"one deleted":        {`DELETE FROM events WHERE position = 512`, `INSERT INTO events SELECT * FROM aside WHERE position = 512`},
	"several deleted":    {`DELETE FROM events WHERE position BETWEEN 200 AND 400`, `INSERT INTO events SELECT * FROM aside WHERE position BETWEEN 200 AND 400`},
	"all deleted":        {`DELETE FROM events`, `INSERT INTO events SELECT * FROM aside`},
	"the head's hash":    {`UPDATE log_head SET hash = sha256(hash) WHERE log = 'reports'`, `UPDATE log_head SET hash = (SELECT hash FROM aside WHERE position = 600) WHERE log = 'reports'`},
	"one behind it":      {`INSERT INTO events SELECT log, 601, organization_id, stream_type, gen_random_uuid(), 1, type, schema_version, occurred_at, recorded_at, data, metadata, digest, hash FROM events WHERE position = 600`, `DELETE FROM events WHERE position = 601`},
	"a leaf's hash":      {`UPDATE log_tiles SET hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) WHERE level = 0 AND index = 1`, `UPDATE log_tiles SET hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) WHERE level = 0 AND index = 1`},
	"a root in the tree": {`UPDATE log_tiles SET hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) WHERE level = 1`, `UPDATE log_tiles SET hashes = set_byte(hashes, 40, 255 - get_byte(hashes, 40)) WHERE level = 1`},
}

// TestAChangedHistoryIsFoundWhileItIsServed: within a pass, a step of 256 events at a time, by
// whichever process takes the step. Nothing is signed then, grown or not. After the repair, the
// next step says so.
func TestAChangedHistoryIsFoundWhileItIsServed(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.append(600)
			_, err := tree.New(h.db).Fill(t.Context(), eventstore.Reports)
			must(t, err)
			_, err = h.makes(600)
			must(t, err)
			h.db.MustExec(`CREATE TABLE aside AS TABLE events`)
			step, said := h.verifier(256)
			for range 3 {
				if v := step(); len(v.Findings) > 0 || v.Head != 600 {
					t.Fatalf("nothing is wrong, and it finds %+v", v)
				}
			}
			must(t, h.maker.Grown(t.Context(), eventstore.Reports))
			h.asSuperuser(change.change)
			other, _ := h.verifier(256) // another process, which goes on where this one was
			step()
			other()
			v := step()
			if len(v.Findings) == 0 || !strings.Contains(said.String(), "level=ERROR") {
				t.Fatalf("it finds %+v and says %q", v, said)
			}
			var unfit *checkpoint.UnfitError
			if err := h.maker.Grown(t.Context(), eventstore.Reports); !errors.As(err, &unfit) || h.refused != 1 {
				t.Errorf("signed: %v, %d refusals were counted", err, h.refused)
			}
			h.asSuperuser(change.back)
			if v := step(); len(v.Findings) > 0 {
				t.Errorf("put right, it finds %+v", v)
			}
			must(t, h.maker.Grown(t.Context(), eventstore.Reports))
		})
	}
}

// TestEventsAreVerifiedBeforeTheyAreSigned: those since the last checkpoint, without any pass.
func TestEventsAreVerifiedBeforeTheyAreSigned(t *testing.T) {
	t.Parallel()
	for name, change := range changes {
		if strings.Contains(name, "tree") || strings.Contains(name, "leaf") || strings.Contains(name, "version") || strings.Contains(name, "head") || strings.Contains(name, "behind") {
			continue // not in the events since
		}
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.append(150)
			_, err := h.makes(150)
			must(t, err)
			h.append(450)
			h.db.MustExec(`CREATE TABLE aside AS TABLE events`)
			h.asSuperuser(change.change)
			if err := h.maker.Grown(t.Context(), eventstore.Reports); !checkpoint.Changed(err) || h.refused != 1 {
				t.Errorf("signed: %v, %d refusals were counted", err, h.refused)
			}
			h.asSuperuser(change.back)
			must(t, h.maker.Grown(t.Context(), eventstore.Reports))
		})
	}
}

// TestALogIsVerifiedByOneProcessAtATime, and a step further a minute.
func TestALogIsVerifiedByOneProcessAtATime(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(600)
	at := func() (position int64) {
		must(t, h.db.Get(&position, `SELECT position FROM log_verifications WHERE log = 'reports'`))
		return position
	}
	one, two := checkpoint.NewVerifier(h.db, slog.Default()).WithSteps(256), checkpoint.NewVerifier(h.db, slog.Default()).WithSteps(256)
	must(t, one.Step(t.Context()))
	must(t, two.Step(t.Context()))
	if at() != 256 {
		t.Errorf("two processes have come to %d within a minute", at())
	}
	var due float64
	must(t, h.db.Get(&due, `SELECT extract(epoch FROM due_at - now()) FROM log_verifications WHERE log = 'reports'`))
	if due <= 0 || due > checkpoint.VerifyEvery.Seconds() {
		t.Errorf("the next step is due in %v s", due)
	}
	for _, want := range []int64{512, 0, 256} { // 0: the pass was whole, and the next one begins
		h.db.MustExec(`UPDATE log_verifications SET due_at = now()`)
		must(t, two.Step(t.Context()))
		if at() != want {
			t.Errorf("it has come to %d, want %d", at(), want)
		}
	}
	h.asOwner(`UPDATE log_verifications SET whole_at = now() - interval '2 days', begun_at = now() - interval '25 hours'`)
	all, err := one.Verified(t.Context())
	must(t, err)
	if v := all[0]; v.Position != 600 || v.Head != 600 || v.Age < 2*24*3600 {
		t.Errorf("verified: %+v", v)
	}
}

// TestAStopOfMoreThanADay: the pass that was under way begins anew, and a whole one takes
// half an hour, within which no alert fires.
func TestAStopOfMoreThanADay(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(600)
	step, _ := h.verifier(256)
	step()
	h.asOwner(`UPDATE log_verifications SET whole_at = now() - interval '2 days', begun_at = now() - interval '2 days'`)
	step()
	var position int64
	must(t, h.db.Get(&position, `SELECT position FROM log_verifications WHERE log = 'reports'`))
	if position != 256 {
		t.Errorf("the first step behind it comes to %d", position)
	}
	step()
	if v := step(); v.Age > 60 || v.Position != 600 {
		t.Errorf("with the last one it is %+v", v)
	}
	v := checkpoint.NewVerifier(h.db, slog.New(slog.DiscardHandler))
	for late, most := range map[bool]int64{true: 30, false: 240} {
		for _, events := range []int64{1, 20_480, 20_481, 1_000_000, 1_000_000_000} {
			if n := (events + v.StepOf(events, late) - 1) / v.StepOf(events, late); n > most {
				t.Errorf("of %d events a pass has %d steps, late: %v", events, n, late)
			}
		}
	}
}

// TestAnAcceptedChangeIsSigned: the verifier does not report it again, and reports the next one. A deleted
// event is signed over if the tree has its hash.
func TestAnAcceptedChangeIsSigned(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"data", "recorded time", "version", "one deleted", "several deleted", "the last deleted", "digest", "hash"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.append(600)
			_, err := tree.New(h.db).Fill(t.Context(), eventstore.Reports)
			must(t, err)
			h.db.MustExec(`CREATE TABLE aside AS TABLE events`)
			step, _ := h.verifier(600)
			h.asSuperuser(changes[name].change)
			if v := step(); len(v.Findings) == 0 {
				t.Fatal("it finds nothing")
			}
			must(t, checkpoint.NewVerifier(h.db, slog.New(slog.DiscardHandler)).Accept(t.Context()))
			if v := step(); len(v.Findings) > 0 {
				t.Errorf("accepted, and it finds %+v", v)
			}
			_, err = h.makes(600)
			if name == "the last deleted" { // its leaf is in no full tile, so the root is unknown
				if missing := (*tree.MissingError)(nil); !errors.As(err, &missing) || !checkpoint.Changed(err) {
					t.Errorf("signed over an event of which nothing is left: %v", err)
				}
			} else if err != nil {
				t.Error(err)
			}
			h.asSuperuser(`UPDATE events SET data = data || '\x00' WHERE position = 100`)
			if v := step(); len(v.Findings) == 0 {
				t.Error("it does not find what was changed since")
			}
		})
	}
}
