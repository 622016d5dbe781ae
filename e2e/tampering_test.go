package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/cli/command"
	"muster/internal/testing/pgtest"
)

// TestTampering changes what is kept, as somebody would who holds the database
// and the disk, and expects each change to be found and named.
func TestTampering(t *testing.T) {
	t.Parallel()
	h := newReported(t)
	first := h.security
	pdf := fileWith(t, "security.pdf", string(read(t, h.stored(t, first, theSigned))))
	db := pgtest.Connect(t, h.url)
	pgtest.Unguard(t, db)
	db.MustExec(`CREATE TABLE kept AS TABLE events`)
	db.MustExec(`CREATE TABLE kept_head AS TABLE log_head`)
	ready := h.events(t, "--stream", first.String(), "--type", "report.ready")[0]
	started := h.events(t, "--stream", first.String(), "--type", "report.build_started")[0]
	reports := h.events(t, "--log", "reports")
	last := reports[len(reports)-1]
	const ofFirst = `log = 'reports' AND stream_id = $1`
	at := func(l line) string { return fmt.Sprintf("%s:%d", l.Log, l.Position) }

	for name, test := range map[string]struct {
		sql   string
		names []string // in what `events verify` prints
		proof []string // in why `verify FILE.pdf` refuses; none: it was behind that report
		tree  string   // the same, where the report's events are whole and the kept hashes are not
	}{
		"a changed event": {
			`UPDATE events SET data = convert_to(replace(convert_from(data, 'UTF8'), '"pages":', '"pages":1'), 'UTF8') WHERE type = 'report.ready' AND ` + ofFirst,
			[]string{at(ready), first.String(), "altered"},
			[]string{at(ready), "was changed"},
			"",
		},
		"an event moved to another day": {
			`UPDATE events SET occurred_at = occurred_at - interval '1 day' WHERE type = 'report.ready' AND ` + ofFirst,
			[]string{at(ready), first.String(), "altered"},
			[]string{at(ready), "was changed"},
			"",
		},
		"an event in another's name": {
			`UPDATE events SET metadata = '{"actorId":"somebody"}' WHERE type = 'report.build_started' AND ` + ofFirst,
			[]string{at(started), first.String(), "altered"},
			[]string{at(started), "was changed"},
			"",
		},
		"a changed event with a new digest": {
			`UPDATE events SET digest = sha256(digest) WHERE type = 'report.ready' AND ` + ofFirst,
			[]string{at(ready), first.String()},
			[]string{at(ready)},
			"",
		},
		"a deleted event": {
			`DELETE FROM events WHERE type = 'report.build_started' AND ` + ofFirst,
			[]string{at(started), first.String(), "version 2"},
			[]string{at(started), "is missing"},
			"",
		},
		"a deleted stream": {
			`DELETE FROM events WHERE ` + ofFirst,
			[]string{first.String(), "deleted stream"},
			[]string{"does not say that this report has this file"},
			"",
		},
		"deleted last events": {
			`DELETE FROM events WHERE log = 'reports' AND $1::uuid IS NOT NULL AND position = (SELECT max(position) FROM events WHERE log = 'reports')`,
			[]string{at(last), "deleted tail"},
			nil,
			"",
		},
		"deleted last events and a head set back": {
			`WITH gone AS (DELETE FROM events WHERE log = 'reports' AND $1::uuid IS NOT NULL AND position >= (SELECT max(position) FROM events WHERE log = 'reports') RETURNING position)
			 UPDATE log_head SET position = position - 1 WHERE log = 'reports'`,
			[]string{"reports:", "head"},
			nil,
			"",
		},
		"a tile of a longer log": {
			`INSERT INTO log_tiles SELECT 'reports', 0, 0, sha256('') WHERE $1::uuid IS NOT NULL`,
			[]string{"reports: ok", "log reports has", "no tree of 256"},
			nil,
			"have another root than its proof",
		},
	} {
		t.Run(name, func(t *testing.T) {
			db.MustExec(test.sql, first)
			defer func() {
				db.MustExec(`TRUNCATE events, log_tiles`)
				db.MustExec(`INSERT INTO events SELECT * FROM kept`)
				db.MustExec(`UPDATE log_head h SET position = k.position, hash = k.hash FROM kept_head k WHERE k.log = h.log`)
			}()
			got := h.muster(t, "events", "verify")
			got.failed(t, "does not fit")
			for _, w := range test.names {
				if !strings.Contains(got.out, w) {
					t.Errorf("events verify does not name %q:\n%s", w, got.out)
				}
			}
			if !strings.Contains(got.out, "fleet: ok") || !strings.Contains(got.out, "organization: ok") {
				t.Errorf("it suspects the wrong log:\n%s", got.out)
			}
			if rebuilt := h.muster(t, "reports", "rebuild", first.String(), "--verify"); (rebuilt.status == 0) != (test.proof == nil) {
				t.Errorf("rebuild --verify ends with %d: %s%s", rebuilt.status, rebuilt.out, rebuilt.errors)
			}
			if test.proof == nil && test.tree == "" {
				h.must(t, "verify", pdf)
			} else {
				h.fail(t, []string{"verify", pdf}, append(test.proof, test.tree, "proof does not hold")...)
			}
		})
	}
	if said := h.must(t, "events", "verify"); !strings.Contains(said, "reports: tree ok, root ") {
		t.Errorf("of the tree it says nothing:\n%s", said)
	}
	h.must(t, "verify", pdf)

	// Of several files the worst counts, and what nobody can tell is no verdict.
	forged, missing := fileWith(t, "forged.pdf", string(append(read(t, pdf), ' '))), filepath.Join(t.TempDir(), "missing.pdf")
	for _, test := range []struct {
		files  []string
		status int
		says   []string
	}{
		{[]string{pdf, pdf}, 0, nil},
		{[]string{forged}, command.ExitFailed, []string{"not one of ours"}},
		{[]string{missing}, command.ExitCannotTell, []string{"cannot tell", missing}},
		{[]string{missing, pdf}, command.ExitCannotTell, []string{missing}},
		{[]string{missing, forged, pdf}, command.ExitFailed, []string{"not one of ours", missing}},
	} {
		got := h.muster(t, append([]string{"verify"}, test.files...)...)
		if got.status != test.status || strings.Contains(got.out, "ours and intact") != slices.Contains(test.files, pdf) {
			t.Errorf("verify %v ends with %d, want %d: %s%s", test.files, got.status, test.status, got.out, got.errors)
		}
		got.says(t, test.says...)
	}
	away := installed{url: "postgres://nobody@127.0.0.1:1/none", dir: t.TempDir()}
	got := away.muster(t, "verify", pdf)
	if got.status != command.ExitCannotTell {
		t.Errorf("with the database away it ends with %d: %s", got.status, got.errors)
	}
	got.says(t, "cannot tell")
}

// done requests a report and returns when its last event, the mail's, is there.
func (h house) done(t testing.TB, w wish) uuid.UUID {
	t.Helper()
	id := h.ana.request(t, w)
	h.ana.signed(t, id)
	eventually(t, "the mail about the report is sent", func() bool {
		return len(h.events(t, "--stream", id.String(), "--type", "report.email_sent")) == 1
	})
	return id
}

// TestSwappedFile puts one report's PDF in the place of another's.
func TestSwappedFile(t *testing.T) {
	t.Parallel()
	h := newReported(t)
	h.serves(t)
	first, second := h.security, h.scorecard
	swapped := h.stored(t, first, theSigned)
	write(t, swapped, read(t, h.stored(t, second, theSigned)))
	refused, err := h.ana.try(t.Context(), http.MethodGet, "/api/v1/reports/"+first.String()+"/download", nil)
	if err != nil || refused.status != http.StatusInternalServerError || refused.code() != "file_altered" {
		t.Errorf("the download answers %d %s, %v", refused.status, refused.body, err)
	}
	eventually(t, "the log names the report and what happened", func() bool {
		said := h.server.logged.String()
		return strings.Contains(said, "changed or swapped") && strings.Contains(said, first.String())
	})
	if said := h.must(t, "verify", swapped); !strings.Contains(said, second.String()) || strings.Contains(said, first.String()) {
		t.Errorf("the file in the first report's place is said to be\n%s", said)
	}
	write(t, swapped, append(read(t, swapped), '%'))
	h.fail(t, []string{"verify", swapped}, "begins as report "+second.String())
	// The ways out that the log's sentences name.
	base := h.stored(t, first, thePDF)
	genuine := read(t, base)
	write(t, base, read(t, h.stored(t, second, thePDF)))
	h.ana.call(t, http.StatusInternalServerError, http.MethodGet, "/api/v1/reports/"+first.String()+"/download?revision=base", nil, nil)
	again := base + ".again"
	h.must(t, "reports", "rebuild", first.String(), "--verify", "--file", again)
	write(t, base, read(t, again))
	if !bytes.Equal(read(t, base), genuine) {
		t.Error("the PDF built again is another one")
	}
	if err := os.Remove(swapped); err != nil {
		t.Fatal(err)
	}
	h.ana.get(t, "/api/v1/reports/"+first.String()+"/download", nil) // gives the base, and has another one made
	eventually(t, "it is signed again", func() bool {
		return len(h.events(t, "--stream", first.String(), "--type", "report.signed")) == 2
	})
	_, path := h.ana.download(t, first)
	h.must(t, "verify", path)
}
