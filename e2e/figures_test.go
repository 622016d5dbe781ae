package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/internal/mail/mailtest"
	"muster/internal/testing/longtest"
	"muster/internal/testing/pgtest"
)

var figuresSeed = flag.Uint64("figures-seed", 0, "draw this one world of TestPrintedFiguresAgreeWithOtherSources again")

// leastPrinted is how many figures and sentences of the documents of a world are taken back at least.
const leastPrinted = 200

// ledger counts by kind what was taken back.
type ledger struct {
	printed map[string]int // figures and sentences of PDFs
	tabled  map[string]int // rows of CSVs, and answers of the API
}

// total is how many there are.
func total(counts map[string]int) (n int) {
	for _, of := range counts {
		n += of
	}
	return n
}

// kindsOfFigures are taken back in each world.
var kindsOfFigures = []string{
	"CVE appendix", "accounts", "alerts", "alerts: severities", "alerts: titles", "cards", "coverage", "days until full", "encryption: databases", "exceptions", "frameworks", "frameworks: matrix",
	"lesser findings", "mail: new and closed", "mail: overdue", "map of servers", "methodology", "page 1: CVEs", "page 1: alerts", "page 1: checks", "page 1: coverage", "page 1: databases", "page 1: encryption", "page 1: findings",
	"page 1: overdue", "page 1: support", "page 1: tables", "plan", "register", "register: totals", "score", "score: caps", "score: domains", "score: points lost", "score: results", "server",
	"sensitive tables", "summary: backups", "summary: categories", "summary: change", "summary: coverage", "summary: scope", "summary: severities", "tables to treat first", "trend", "utilization",
	"verdict: coverage", "verdict: findings", "versions",
}

// TestPrintedFiguresAgreeWithOtherSources draws an organization, sends it as feeds do, and builds its Security report,
// scorecard and Data Inventory. What the documents and the mail about the first print is held against what was sent, as this test computes it
// by hand, and against tables of the database, the API, the CSVs and the output of "muster feed show". A failure names
// the seed of its world: -args -figures-seed=SEED draws it again.
func TestPrintedFiguresAgreeWithOtherSources(t *testing.T) {
	t.Parallel()
	agree(t, 1)
}

// TestLongPrintedFiguresAgreeWithOtherSources draws three of them.
func TestLongPrintedFiguresAgreeWithOtherSources(t *testing.T) {
	longtest.Only(t)
	t.Parallel()
	agree(t, 3)
}

func agree(t *testing.T, worlds uint64) {
	i := install(t)
	mails := mailtest.Start(t, mailtest.Options{})
	server := servingHere(t, append(i.flags(), "--rate-limits=off", "--roles=api,projections,workers", "--smtp-url=smtp://"+mails.Addr+"?starttls=off")...)
	db := pgtest.Connect(t, i.url)
	feed := muster(t, "feed", "show").out
	var seeds []uint64
	if *figuresSeed != 0 {
		seeds, worlds = append(seeds, *figuresSeed), 0
	}
	for n := range worlds {
		seeds = append(seeds, uint64(time.Now().UnixNano())+n)
	}
	for n, seed := range seeds {
		name := []string{"Alder", "Birch", "Cedar"}[n]
		email := i.organization(t, name)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			d := &drawn{T: t, Rand: rand.New(rand.NewPCG(seed, 1)), of: i, ana: i.as(t, server, email), db: db, name: name, feed: feed, mails: mails, ledger: ledger{map[string]int{}, map[string]int{}}}
			d.draw([]int{100, 40, 20}[seed%3]) // the days that its history goes back
			d.takeBack()
			t.Logf("seed %d: %d figures and sentences: %v; %d rows: %v", seed, total(d.printed), d.printed, total(d.tabled), d.tabled)
			if total(d.printed) < leastPrinted {
				t.Errorf("only %d figures and sentences were taken back, want %d", total(d.printed), leastPrinted)
			}
			for _, kind := range kindsOfFigures {
				if d.printed[kind] == 0 {
					t.Errorf("no figure was taken back of: %s", kind)
				}
			}
		})
	}
}

// takeBack sends a world and takes its documents back. A Security report that is built before the last look is what the
// next one compares itself with.
func (d *drawn) takeBack() {
	d.register()
	last := len(d.looks) - 1
	d.assess(0, last)
	before := d.read(security())
	before.says("summary: change", "Summary", "There is no earlier Security report of this scope to compare with.")
	d.assess(last, last+1)
	d.use()
	d.accept()
	d.acceptRisk()
	report := d.read(security())
	report.before, d.allCVEs = before, report.tables["cves.csv"]
	report.security()
	report.mailed()
	w := of("InstanceScorecard", d.subject.id)
	from := d.now.AddDate(0, 0, -30)
	w.Scope.From, w.Scope.To = &from, &d.now
	d.read(w).scorecard()
	d.read(of("DataInventory")).inventory()
	var few []uuid.UUID
	for _, s := range d.assessed() {
		few = append(few, s.id)
	}
	d.read(security(few...)).matrix()
	d.storedFindings()
}

// storedFindings holds what was drawn against the table of findings.
func (d *drawn) storedFindings() {
	d.Helper()
	for _, s := range d.assessed() {
		var stored []string
		if err := sqlx.Select(d.db, &stored, `SELECT check_id || ' ' || database_name || ' ' || object FROM findings WHERE instance_id = $1 AND assessed AND gone_at IS NULL`, s.id); err != nil {
			d.Fatal(err)
		}
		var want []string
		for _, f := range slices.Concat(d.still("", s), d.standing("", s, true)) {
			want = append(want, f.check.ID+" "+f.database+" "+f.object)
		}
		slices.Sort(stored)
		slices.Sort(want)
		if d.tabled["findings"]++; !slices.Equal(stored, want) {
			d.Errorf("the findings of %s are %v, want %v", s.name, stored, want)
		}
	}
}
