package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"golang.org/x/mod/sumdb/tlog"

	"muster/eventstore"
	"muster/eventstore/tree"
	"muster/internal/process/unixonly"
	"muster/internal/proof/checkpoint"
	"muster/internal/testing/longtest"
)

// cut takes away everything behind 5 events, as if it had never been.
var cut = []string{
	`DELETE FROM events WHERE position > 5`,
	`UPDATE log_head SET position = 5, hash = (SELECT hash FROM events WHERE position = 5) WHERE log = 'reports'`,
	`DELETE FROM log_checkpoints`,
}

// TestAFileBesideTheKeyRevealsARewrite: if the database is rewritten while no process runs, including stored
// checkpoints, the file reveals it. Without it the next process signs.
func TestAFileBesideTheKeyRevealsARewrite(t *testing.T) {
	t.Parallel()
	file := func(h *house) string { return filepath.Join(filepath.Dir(h.keyFile), "secret.key.signed-reports") }
	rewritten := []string{rewrite, `DELETE FROM log_checkpoints`}
	for name, tc := range map[string]struct {
		attack []string
		change func(*testing.T, *house)
		want   string // in the error; empty: it is signed
	}{
		"nothing happened":         {},
		"rewritten":                {attack: rewritten, want: "they were changed since"},
		"cut off":                  {attack: cut, want: "and the log has 5: events are gone"},
		"rewritten, and no file":   {attack: rewritten, change: func(t *testing.T, h *house) { must(t, os.Remove(file(h))) }},
		"an older file":            {change: func(t *testing.T, h *house) { must(t, os.WriteFile(file(h), []byte(h.older), 0o600)) }},
		"an older file, rewritten": {attack: rewritten, change: func(t *testing.T, h *house) { must(t, os.WriteFile(file(h), []byte(h.older), 0o600)) }, want: "they were changed since"},
		"a file of nothing":        {change: func(t *testing.T, h *house) { must(t, os.WriteFile(file(h), nil, 0o600)) }, want: "and is none: checkpoint: wanted origin"},
		"a directory in its place": {change: func(t *testing.T, h *house) { must(t, errors.Join(os.Remove(file(h)), os.Mkdir(file(h), 0o700))) }, want: "cannot be read"},
		"another installation's file": {change: func(t *testing.T, h *house) {
			must(t, os.WriteFile(file(h), []byte(strings.Replace(h.older, "muster/", "muster/0", 1)), 0o600))
		}, want: "remove the file if another installation had this key before"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.beside = true
			h.restart()
			h.append(4)
			before, err := h.makes(4)
			must(t, err)
			h.older = before.Note
			h.append(4)
			last, err := h.makes(8)
			must(t, err)
			if kept, err := os.ReadFile(file(h)); err != nil || string(kept) != last.Note {
				t.Fatalf("the file has %q, %v", kept, err)
			}
			h.asOwner(tc.attack...)
			if tc.change != nil {
				tc.change(t, h)
			}
			h.restart()
			if name != "cut off" {
				h.append(1)
			}
			signed, err := h.makes(5)
			if tc.want == "" {
				must(t, err)
				if kept, err := os.ReadFile(file(h)); err != nil || string(kept) != signed.Note || signed.Size < 8 {
					t.Errorf("the file has %q, %v", kept, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.want) || !checkpoint.Changed(err) || h.refused != 1 || h.maker.Check(t.Context()) == nil {
				t.Errorf("got %v, want %q; %d refusals", err, tc.want, h.refused)
			}
		})
	}
}

// TestAFileBesideTheKeyNeverGoesBack, whatever a process has read of it before.
func TestAFileBesideTheKeyNeverGoesBack(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.beside = true
	h.restart()
	h.append(3)
	smaller, err := h.makes(3)
	must(t, err)
	h.append(2)
	larger, err := h.makes(5)
	must(t, err)
	file := filepath.Join(filepath.Dir(h.keyFile), "secret.key.signed-reports")
	must(t, h.maker.KeepBeside(t.Context(), smaller))
	if kept, err := os.ReadFile(file); err != nil || !strings.HasPrefix(larger.Note, string(kept)) {
		t.Errorf("a process that had read the file before puts a smaller one back: %q, %v", kept, err)
	}
	for range 2 { // restored twice: what was signed before either stays
		must(t, os.WriteFile(file, []byte(larger.Note), 0o600))
		if moved, err := h.maker.GiveUp(eventstore.Reports); err != nil || len(moved) != 1 {
			t.Errorf("moved aside are %v, %v", moved, err)
		}
	}
	if aside, err := filepath.Glob(file + ".given-up*"); err != nil || len(aside) != 2 {
		t.Errorf("moved aside are %v, %v", aside, err)
	}
}

// TestTwoRestoresThatShareAKeysDirectory: two copies of one database go on, each in its own
// way, and the second that signs is refused, smaller or larger.
func TestTwoRestoresThatShareAKeysDirectory(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	h.beside = true
	h.restart()
	h.append(5)
	_, err := h.makes(5)
	must(t, err)
	h.append(3)
	_, err = h.makes(8)
	must(t, err)
	h.asOwner(`DELETE FROM events WHERE position > 5`,
		`UPDATE log_head SET position = 5, hash = (SELECT hash FROM events WHERE position = 5) WHERE log = 'reports'`,
		`DELETE FROM log_checkpoints WHERE size > 5`)
	h.restart()
	h.append(1)
	if _, err := h.makes(6); err == nil || !strings.Contains(err.Error(), "events are gone") {
		t.Errorf("a shorter history is signed: %v", err)
	}
	h.append(9)
	if _, err := h.makes(15); err == nil || !strings.Contains(err.Error(), "changed since") {
		t.Errorf("another history is signed: %v", err)
	}
	moved, err := h.maker.GiveUp(eventstore.Reports)
	must(t, err)
	if len(moved) != 1 {
		t.Errorf("moved aside %v", moved)
	}
	h.restart()
	signed, err := h.makes(15)
	must(t, err)
	if kept, err := os.ReadFile(strings.TrimSuffix(moved[0], ".given-up")); err != nil || string(kept) != signed.Note {
		t.Errorf("the file has %q, %v", kept, err)
	}
}

// TestAFileThatCannotBeWritten: an orchestrator provides the key in a read-only directory; then
// the data directory has the file.
func TestAFileThatCannotBeWritten(t *testing.T) {
	t.Parallel()
	h := newHouse(t)
	nowhere, data := filepath.Join(t.TempDir(), "none"), t.TempDir()
	h.append(3)
	h.maker.Beside = checkpoint.Beside{Dirs: []string{nowhere, data}, Name: "secret.key"}
	_, err := h.makes(3)
	must(t, err)
	if _, err := os.Stat(filepath.Join(data, "secret.key.signed-reports")); err != nil {
		t.Error(err)
	}
	var unkept []error
	h.restart()
	h.maker.Beside = checkpoint.Beside{Dirs: []string{nowhere}, Name: "secret.key"}
	h.maker.Unkept = func(_ eventstore.Log, err error) { unkept = append(unkept, err) }
	if _, err := h.makes(3); err != nil || len(unkept) != 1 {
		t.Errorf("signed: %v, and told of the file: %v", err, unkept)
	}
}

// TestAFileBesideTheKeyBelongsToItsOwner: root signs a checkpoint for a server that runs as another user, as
// `muster verify` in a service's directory does. The server reads the file afterwards.
func TestAFileBesideTheKeyBelongsToItsOwner(t *testing.T) {
	t.Parallel()
	const somebody = 65534
	h := newHouse(t)
	h.beside = true
	h.restart()
	must(t, os.Chmod(h.keyFile, 0o640))
	if err := os.Chown(h.keyFile, somebody, somebody); err != nil {
		t.Skipf("only root can give a file away: %v", err)
	}
	h.append(3)
	_, err := h.makes(3)
	must(t, err)
	info, err := os.Stat(h.keyFile + ".signed-reports")
	must(t, err)
	if uid, gid, _ := unixonly.Owner(info); uid != somebody || gid != somebody || info.Mode().Perm() != 0o640 {
		t.Errorf("it is that of %d:%d, with mode %v", uid, gid, info.Mode())
	}
}

// TestEarlierSignaturesRevealARewrite: a log is changed and signed again, and something of the earlier
// signatures is left: a checkpoint, or the proof of a report.
func TestEarlierSignaturesRevealARewrite(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		left string // the deleted part of what is stored
		fits bool
	}{
		"an old checkpoint": {left: `size > 4`},
		"a proof":           {left: `true`},
		"nothing":           {left: `true`, fits: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newHouse(t)
			h.append(4)
			first, err := h.makes(4)
			must(t, err)
			h.append(4)
			_, err = h.makes(8)
			must(t, err)
			held, err := h.maker.Hold(t.Context(), eventstore.Reports)
			if err != nil || held.Misfits != 0 || held.Kept != 2 || h.maker.Check(t.Context()) != nil {
				t.Fatalf("before: %+v, %v", held, err)
			}
			h.asOwner(rewrite, `DELETE FROM log_checkpoints WHERE `+tc.left)
			h.restart()
			if name == "a proof" {
				h.maker.Proofs = func(context.Context, eventstore.Log) iter.Seq2[checkpoint.Known, error] {
					return func(yield func(checkpoint.Known, error) bool) {
						yield(checkpoint.Known{What: "the kept proof of report " + uuid.NewString(), Note: first.Note}, nil)
					}
				}
			}
			h.append(1)
			_, err = h.makes(9)
			if tc.fits {
				must(t, err)
				return
			}
			var unfit *checkpoint.UnfitError
			if !errors.As(err, &unfit) || !strings.Contains(err.Error(), "says that the first 4 events have the root") {
				t.Errorf("it is signed: %v", err)
			}
		})
	}
}

// TestLongTenThousandProofsAreCompared measures the cost of a start. Signing waits for it.
func TestLongTenThousandProofsAreCompared(t *testing.T) {
	longtest.Only(t)
	h := newHouse(t)
	h.append(1)
	const many = 10_000
	h.db.MustExec(`ALTER TABLE events DISABLE TRIGGER USER`)
	h.db.MustExec(`INSERT INTO events (log, position, organization_id, stream_type, stream_id, version, type, schema_version, occurred_at, recorded_at, data, metadata, digest, hash)
		SELECT 'reports', n, gen_random_uuid(), 'x', gen_random_uuid(), 1, 'x', 1, now(), now() + n * interval '1 microsecond', '', '{}', sha256(int8send(n)), sha256('') FROM generate_series(2::bigint, $1) n`, 12*many)
	h.db.MustExec(`UPDATE log_head SET position = $1 WHERE log = 'reports'`, 12*many)
	origin := h.signing.Origin(eventstore.Reports)
	roots := rootsOf(t, h, 12*many)
	for i := range many {
		size := int64(12 * (i + 1))
		h.db.MustExec(`INSERT INTO log_checkpoints (log, size, root, note) VALUES ('reports', $1, $2, $3)`, size, roots[i][:], fmt.Sprintf("%s\n%d\n%s\n\n— x y\n", origin, size, roots[i]))
	}
	begun := time.Now()
	held, err := h.maker.Hold(t.Context(), eventstore.Reports)
	must(t, err)
	t.Logf("%d checkpoints over %d events are held against in %s: %v", held.Kept, 12*many, time.Since(begun), held.Sentences[:min(1, len(held.Sentences))])
	if held.Misfits != 0 || held.Kept != many {
		t.Errorf("%d do not fit", held.Misfits)
	}
}

func rootsOf(t *testing.T, h *house, n int64) []tlog.Hash {
	t.Helper()
	var sizes []int64
	for size := int64(12); size <= n; size += 12 {
		sizes = append(sizes, size)
	}
	roots, err := tree.New(h.db).Roots(t.Context(), eventstore.Reports, sizes)
	must(t, err)
	return roots
}
