package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"
	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/postgres"
	"muster/internal/proof/checkpoint"
	"muster/internal/proof/signing"
	"muster/internal/secrets"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// house is an installation with a log.
type house struct {
	t       *testing.T
	db      *sqlx.DB
	store   *eventstore.Store
	keyFile string
	signing *signing.Signing
	maker   *checkpoint.Maker
	refused int
	beside  bool   // with the file beside the key
	older   string // an earlier checkpoint
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, db: pgtest.DB(t), keyFile: filepath.Join(t.TempDir(), "secret.key")}
	h.store = eventstore.New(h.db)
	ring, err := secrets.LoadOrCreate(h.keyFile)
	must(t, err)
	must(t, secrets.CheckKeys(t.Context(), h.db, ring))
	h.signing, err = signing.Open(t.Context(), h.db, ring, nil)
	must(t, err)
	h.restart()
	return h
}

// restart is another process on the same database.
func (h *house) restart() {
	h.maker = checkpoint.New(h.db, h.signing)
	if h.beside {
		h.maker.Beside = checkpoint.Beside{Dirs: []string{filepath.Dir(h.keyFile)}, Name: filepath.Base(h.keyFile)}
	}
	h.maker.Refused = func(eventstore.Log) { h.refused++ }
}

func (h *house) append(n int) {
	h.t.Helper()
	all := make([]eventstore.Append, n)
	for i := range all {
		all[i] = eventstore.Append{Organization: uuid.New(), StreamType: "x", Stream: uuid.New(), Events: []eventstore.NewEvent{{Type: "x", Data: []byte("{}")}}}
	}
	_, err := h.store.Append(h.t.Context(), eventstore.Reports, all...)
	must(h.t, err)
}

// makes a checkpoint a second after the last.
func (h *house) makes(atLeast int64) (checkpoint.Checkpoint, error) {
	h.t.Helper()
	h.asOwner(`UPDATE log_checkpoints SET made_at = made_at - interval '1 hour'`)
	return h.maker.Makes(h.t.Context(), eventstore.Reports, atLeast)
}

// asOwner does what only the owner of the database can.
func (h *house) asOwner(statements ...string) {
	h.t.Helper()
	for _, s := range append([]string{`ALTER TABLE events DISABLE TRIGGER USER`, `ALTER TABLE log_checkpoints DISABLE TRIGGER USER`}, statements...) {
		h.db.MustExec(strings.ReplaceAll(s, "NEW_DIGEST", h.digestOf(3, "changed")))
	}
}

// digestOf is that of an event with other data, as SQL.
func (h *house) digestOf(position int64, data string) string {
	h.t.Helper()
	for e, err := range h.store.Read(h.t.Context(), eventstore.Reports, eventstore.Filter{}) {
		must(h.t, err)
		if e.Position == position {
			e.Data = []byte(data)
			return fmt.Sprintf(`'\x%x'::bytea`, eventstore.Digest(e))
		}
	}
	return "NULL" // it is gone
}

// rewrite changes an event and computes everything behind it anew.
const rewrite = `DO $$ DECLARE e record; h bytea; BEGIN
	UPDATE events SET data = 'changed', digest = NEW_DIGEST WHERE log = 'reports' AND position = 3;
	SELECT hash INTO h FROM events WHERE log = 'reports' AND position = 2;
	FOR e IN SELECT position, digest, recorded_at FROM events WHERE log = 'reports' AND position > 2 ORDER BY position LOOP
		h := sha256(h || e.digest || timestamptz_send(e.recorded_at));
		UPDATE events SET hash = h WHERE log = 'reports' AND position = e.position;
		UPDATE log_head SET hash = h WHERE log = 'reports';
	END LOOP; END $$`

func TestACheckpointHasTheTreeAndEverySignature(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(5)
	_, err := secrets.Rotate(t.Context(), h.db, h.keyFile, func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }, func(secrets.Rotation) error { return nil })
	must(t, err)
	c, err := h.makes(5)
	must(t, err)
	root, err := tree.New(h.db).Root(t.Context(), eventstore.Reports, 5)
	must(t, err)
	keys, err := h.signing.Keys(t.Context())
	must(t, err)
	signers := 0
	for _, k := range keys.Of("log") {
		v, err := note.NewVerifier(k.VerifierKey)
		must(t, err)
		opened, err := note.Open([]byte(c.Note), note.VerifierList(v))
		if !strings.HasSuffix(k.ID, "-reports") {
			if err == nil {
				t.Errorf("key %s has signed another log", k.ID)
			}
			continue
		}
		must(t, err)
		signers++
		if want := "muster/" + h.signing.Installation() + "/reports\n5\n" + root.String() + "\n"; opened.Text != want {
			t.Errorf("signed is %q, want %q", opened.Text, want)
		}
	}
	if signers != 2 || c.Root != root || c.Size != 5 {
		t.Errorf("%d keys signed %d events with root %v", signers, c.Size, c.Root)
	}
	if last, ok, err := h.maker.Latest(t.Context(), eventstore.Reports); err != nil || !ok || last.Note != c.Note {
		t.Errorf("the latest is %+v, %v, %v", last, ok, err)
	}
	if _, err := h.db.Exec(`UPDATE log_checkpoints SET note = note || 'x'`); err != nil {
		t.Errorf("a signature cannot be added: %v", err)
	}
}

func TestACheckpointIsNeverTakenBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(2)
	_, err := h.maker.Makes(t.Context(), eventstore.Reports, 2)
	must(t, err)
	for _, change := range []string{
		`DELETE FROM log_checkpoints`, `TRUNCATE log_checkpoints`, `UPDATE log_checkpoints SET size = 1`, `UPDATE log_checkpoints SET root = sha256('')`,
		`UPDATE log_checkpoints SET note = 'x'`, `UPDATE log_checkpoints SET made_at = now() + interval '1 s'`,
	} {
		if _, err := h.db.Exec(change); err == nil || !strings.Contains(err.Error(), "append-only") {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// TestTheNewKeySignsAgain what only an old one has signed, and a retired one's signature stays.
func TestTheNewKeySignsAgain(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(3)
	before, err := h.makes(3)
	must(t, err)
	none := func(context.Context, *sqlx.Tx) (int, error) { return 0, nil }
	_, err = secrets.Rotate(t.Context(), h.db, h.keyFile, none, func(secrets.Rotation) error { return nil })
	must(t, err)
	_, err = secrets.Retire(t.Context(), h.db, h.keyFile, none, func([]string) error { return nil })
	must(t, err)
	if _, ok, err := h.maker.Latest(t.Context(), eventstore.Reports); ok || err != nil {
		t.Errorf("a checkpoint is handed out that no key of the ring has signed: %v", err)
	}
	after, err := h.makes(3)
	must(t, err)
	if after.Size != 3 || after.Note == before.Note || !strings.HasPrefix(after.Note, before.Note) {
		t.Errorf("%q became %q", before.Note, after.Note)
	}
	again, err := h.makes(3)
	must(t, err)
	if again.Note != after.Note {
		t.Errorf("it is signed again and again: %q", again.Note)
	}
}

func TestAtMostOneASecond(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(1)
	var wait sync.WaitGroup
	for range 8 { // more than the pool has connections, from two processes
		maker := checkpoint.New(h.db, h.signing)
		for range 3 {
			wait.Go(func() {
				h.append(1)
				head, err := h.store.Head(t.Context(), h.db, eventstore.Reports)
				if err != nil {
					t.Error(err)
				}
				if c, err := maker.Makes(t.Context(), eventstore.Reports, head.Position); err != nil || c.Size < head.Position {
					t.Errorf("%d for %d: %v", c.Size, head.Position, err)
				}
			})
		}
	}
	wait.Wait()
	var close int
	must(t, h.db.Get(&close, `SELECT count(*) FROM (SELECT made_at - lag(made_at) OVER (ORDER BY size) AS after FROM log_checkpoints) x WHERE after < interval '1 s'`))
	if close > 0 {
		t.Errorf("%d were made within a second of the one before", close)
	}
}

// TestARewrittenHistoryIsNotSigned: an attacker with the database rewrites it, with and without
// the stored checkpoints, under a running process and between two.
func TestARewrittenHistoryIsNotSigned(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		restarted bool
		attack    []string
		want      string // in the error; empty: it is signed, and only kept checkpoints elsewhere do not fit
	}{
		"nothing":                                      {false, nil, ""},
		"chain computed anew":                          {true, []string{rewrite}, "the checkpoint that is kept over 8 events says that the first 8 events have the root"},
		"with the checkpoints, running":                {false, []string{rewrite, `DELETE FROM log_checkpoints`}, "that this process has signed"},
		"with the checkpoints, stopped":                {true, []string{rewrite, `DELETE FROM log_checkpoints`}, ""},
		"cut off with its head":                        {true, []string{`DELETE FROM events WHERE position > 5`, `UPDATE log_head SET position = 5, hash = (SELECT hash FROM events WHERE position = 5) WHERE log = 'reports'`}, "events are gone"},
		"cut off with head and checkpoints, running":   {false, []string{`DELETE FROM events WHERE position > 5`, `UPDATE log_head SET position = 5, hash = (SELECT hash FROM events WHERE position = 5) WHERE log = 'reports'`, `DELETE FROM log_checkpoints`}, "events are gone"},
		"a row says another root":                      {false, []string{`UPDATE log_checkpoints SET root = sha256('')`}, "was changed: its note is over 8 events"},
		"a row is the checkpoint of another log":       {true, []string{`UPDATE log_checkpoints SET note = replace(note, '/reports', '/fleet')`}, "was changed: it is of muster/"},
		"a row has a note that nobody signed":          {true, []string{`UPDATE log_checkpoints SET root = sha256(''), note = replace(note, encode(root, 'base64'), encode(sha256(''), 'base64'))`}, "the checkpoint that is kept over 8 events says"},
		"a row is of the future, signed by a stranger": {true, []string{`UPDATE log_checkpoints SET size = 1000, note = regexp_replace(replace(note, E'\n8\n', E'\n1000\n'), '— .*', E'— nobody AAAAAAAA\n')`}, "events are gone"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.append(8)
			before, err := h.makes(8)
			must(t, err)
			h.asOwner(tc.attack...)
			if tc.restarted {
				h.restart()
			}
			if !strings.Contains(name, "cut off") {
				h.append(2)
			}
			after, err := h.makes(9)
			if name == "nothing" || tc.want == "" {
				must(t, err)
				proof, err := tree.New(h.db).Consistency(t.Context(), eventstore.Reports, before.Size, after.Size)
				must(t, err)
				if fits := tlog.CheckTree(proof, after.Size, after.Root, before.Size, before.Root) == nil; fits != (name == "nothing") {
					t.Errorf("an auditor's checkpoint of before fits: %v", fits)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if !checkpoint.Changed(err) || h.refused != 1 {
				t.Errorf("%d refusals were counted of %v", h.refused, err)
			}
		})
	}
}

// TestCheckpointsOfOtherProcessesAreCompared: a process that was started after the change signs it. One that
// ran before does not accept that.
func TestCheckpointsOfOtherProcessesAreCompared(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(8)
	_, err := h.makes(8)
	must(t, err)
	there := h.maker
	h.asOwner(rewrite, `DELETE FROM log_checkpoints`)
	h.append(1)
	h.restart()
	_, err = h.makes(9)
	must(t, err)
	var refused *checkpoint.RefusedError
	if _, err := there.Makes(t.Context(), eventstore.Reports, 9); !errors.As(err, &refused) || !refused.Here {
		t.Errorf("it takes the new history over: %v", err)
	}
}

func TestAnEmptyLogHasNoCheckpoint(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	must(t, h.maker.Grown(t.Context(), eventstore.Fleet))
	if _, ok, err := h.maker.Latest(t.Context(), eventstore.Fleet); ok || err != nil {
		t.Errorf("an empty log has a checkpoint, %v", err)
	}
	var missing *tree.MissingError
	if _, err := h.maker.Makes(t.Context(), eventstore.Fleet, 1); !errors.As(err, &missing) {
		t.Errorf("got %v", err)
	}
}

// TestOneConnectionIsEnough: the holder of a log's lock needs no second connection, which those
// who wait for the lock might have.
func TestOneConnectionIsEnough(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(3)
	db, pool, err := postgres.Connect(t.Context(), pgtest.URL(t), postgres.PoolOptions{Name: "one", Max: 1})
	must(t, err)
	t.Cleanup(pool.Close)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	_, err = checkpoint.New(db, h.signing).Makes(ctx, eventstore.Reports, 3)
	must(t, err)
}

// TestAnotherIdIsAnotherLog: after a change of the installation's id, the stored checkpoints
// refuse to sign. Without these, no key that an auditor kept matches what is signed then.
func TestAnotherIdIsAnotherLog(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.append(3)
	_, err := h.makes(3)
	must(t, err)
	kept, err := h.signing.Verifiers(eventstore.Reports)
	must(t, err)
	h.asOwner(`UPDATE installation SET fingerprint = gen_random_uuid()::text WHERE name = 'id'`)
	ring, err := secrets.Load(h.keyFile)
	must(t, err)
	h.signing, err = signing.Open(t.Context(), h.db, ring, nil)
	must(t, err)
	h.restart()
	if _, err := h.makes(3); !checkpoint.Changed(err) {
		t.Errorf("kept checkpoints of another id do not matter: %v", err)
	}
	h.asOwner(`DELETE FROM log_checkpoints`)
	signed, err := h.makes(3)
	must(t, err)
	var unverified *note.UnverifiedNoteError
	if _, err := note.Open([]byte(signed.Note), kept); !errors.As(err, &unverified) {
		t.Errorf("kept keys take it: %v", err)
	}
}
