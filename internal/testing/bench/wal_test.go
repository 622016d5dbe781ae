package bench_test

import (
	"cmp"
	_ "embed"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/jmoiron/sqlx"
)

var (
	//go:embed testdata/wal.sql
	walByFile string
	//go:embed testdata/relations.sql
	allRelations string
)

// relation is a part of a table, as pg_class has it.
type relation struct {
	File  string // as blocks in the WAL name it: database/file
	Table string
	Part  string // rows, indexes or toast
	Bytes int64
}

func relations(b *testing.B, db *sqlx.DB) (all []relation) {
	b.Helper()
	if err := db.SelectContext(b.Context(), &all, allRelations); err != nil {
		b.Fatal(err)
	}
	return all
}

// disk is what each table takes, part by part.
func disk(b *testing.B, db *sqlx.DB) map[string]map[string]int64 {
	b.Helper()
	of := make(map[string]map[string]int64)
	for _, r := range relations(b, db) {
		if of[r.Table] == nil {
			of[r.Table] = make(map[string]int64)
		}
		of[r.Table][r.Part] += r.Bytes
	}
	return of
}

// wal adds up what a server writes ahead by table and kind. It has to look more often
// than the server throws its WAL away, and than a table's files are replaced twice.
type wal struct {
	b     *testing.B
	db    *sqlx.DB
	from  string              // position up to which it has looked
	files map[string]relation // all that there have been
	of    map[walKey]walSum
}

type walKey struct{ table, part, kind string }

type walSum struct {
	Records, Bytes int64
	Pages          int64 // of Bytes, those of whole pages: the first change after a checkpoint
}

func (s *walSum) add(o walSum) {
	s.Records += o.Records
	s.Bytes += o.Bytes
	s.Pages += o.Pages
}

// newWAL begins to look at where the server is now.
func newWAL(b *testing.B, db *sqlx.DB) *wal {
	b.Helper()
	db.MustExec(`CREATE EXTENSION IF NOT EXISTS pg_walinspect`)
	w := &wal{b: b, db: db, files: make(map[string]relation), of: make(map[walKey]walSum)}
	w.from = w.position()
	w.know()
	return w
}

// position is up to where the WAL is on disk.
func (w *wal) position() (at string) {
	w.b.Helper()
	if err := w.db.GetContext(w.b.Context(), &at, `SELECT pg_current_wal_flush_lsn()`); err != nil {
		w.b.Fatal(err)
	}
	return at
}

func (w *wal) know() {
	w.b.Helper()
	for _, r := range relations(w.b, w.db) {
		w.files[r.File] = r
	}
}

// look adds what was written since it looked last.
func (w *wal) look() {
	w.b.Helper()
	w.know()
	to := w.position()
	if to == w.from {
		return
	}
	var found []struct {
		File, Kind string
		walSum
	}
	if err := w.db.SelectContext(w.b.Context(), &found, walByFile, w.from, to); err != nil {
		w.b.Fatal(err)
	}
	for _, f := range found {
		key := walKey{"(commits and others without a table)", "", f.Kind}
		if f.File != "" {
			key.table = "(system tables)"
			if r, known := w.files[f.File]; known {
				key.table, key.part = r.Table, r.Part
			}
		}
		sum := w.of[key]
		sum.add(f.walSum)
		w.of[key] = sum
	}
	w.from = to
}

// by adds up by a name that a key is given; "" leaves it out.
func (w *wal) by(name func(walKey) string) map[string]walSum {
	of := make(map[string]walSum)
	for key, sum := range w.of {
		if n := name(key); n != "" {
			s := of[n]
			s.add(sum)
			of[n] = s
		}
	}
	return of
}

// total is all of it.
func (w *wal) total() walSum {
	return w.by(func(walKey) string { return "all" })["all"]
}

// walRows is of how many kinds of records report tells.
const walRows = 25

// tell prints what was written in MB times scale, by table and kind.
func (w *wal) tell(title string, scale float64) {
	w.b.Helper()
	scale /= 1e6
	var out strings.Builder
	fmt.Fprintf(&out, "| table | part | record | MB | of it whole pages | records | bytes each |\n|---|---|---|---|---|---|---|\n")
	keys := slices.SortedFunc(maps.Keys(w.of), func(a, b walKey) int { return cmp.Compare(w.of[b].Bytes, w.of[a].Bytes) })
	for _, key := range keys[:min(walRows, len(keys))] {
		s := w.of[key]
		fmt.Fprintf(&out, "| %s | %s | %s | %.0f | %.0f | %.0f | %d |\n", key.table, key.part, key.kind,
			float64(s.Bytes)*scale, float64(s.Pages)*scale, float64(s.Records)*scale*1e6, s.Bytes/max(1, s.Records))
	}
	tell(w.b, title, out.String())
}

// report makes each table of more than half a percent a metric.
func (w *wal) report(scale float64) {
	w.b.Helper()
	scale /= 1e6
	total := w.total()
	for table, s := range w.by(func(k walKey) string { return strings.Trim(strings.ReplaceAll(k.table, " ", "-"), "()") }) {
		if s.Bytes*200 > total.Bytes {
			w.b.ReportMetric(float64(s.Bytes)*scale, "wal:"+table+"-MB")
		}
	}
	w.b.ReportMetric(float64(total.Pages)*scale, "wal-pages-MB")
}
