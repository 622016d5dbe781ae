package e2e

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/testing/pgtest"
)

// alertedWithin is how long a trouble may last before an alert of the kit says so.
const alertedWithin = 3 * time.Minute

// ill is a trouble that lasts until an alert tells of it.
type ill struct {
	trouble string // as docs/operators.md has it
	check   string // of /readyz that fails; empty: none
	alert   string
	also    []string // further alerts that may come with it
	cure    string   // as docs/operators.md has it
	apart   bool     // the alert does not go by the check
	forever bool     // the alert looks back, or stays until a person has judged: it is not waited for
	comes   func(f *fire, t *testing.T) (goes func(t *testing.T))
}

// illsBefore are brought about before the clients come, those of a round at the same time. Nothing
// else is wrong then, so that no other alert may fire.
var illsBefore = [][]ill{
	{
		{trouble: "a process is stopped (SIGSTOP)", alert: "MusterProcessAway", cure: "the process continues", comes: (*fire).replicaStops},
		{trouble: "the mail server refuses connections", check: "mail", alert: "MusterRunsDegraded", cure: "the mail server accepts connections", comes: linesCut("the mail server")},
		{trouble: "the bucket refuses connections", check: "blobs", alert: "MusterCheckFails", cure: "the bucket accepts connections", comes: linesCut("the bucket")},
		{trouble: "a shard of ClickHouse is killed", check: "measurements", alert: "MusterRunsDegraded", cure: "the shard is started", comes: (*fire).shardDies},
	},
	{{
		trouble: "no commit returns: the synchronous standby is away", check: "writes", alert: "MusterWritesDoNotCommit",
		also: []string{"MusterWatchStands", "MusterReadsOldThings"}, cure: "the standby is removed, or is back",
		comes: func(f *fire, t *testing.T) func(*testing.T) { return f.stalls(t) },
	}},
	{{
		trouble: "PostgreSQL refuses connections", check: "database", alert: "MusterCheckFails",
		also: []string{"MusterCheckFails", "MusterWatchStands", "MusterReadsOldThings", "MusterWritesDoNotCommit", "MusterRunsDegraded"}, cure: "PostgreSQL accepts connections", comes: linesCut("PostgreSQL"),
	}},
	{{trouble: "all processes are stopped (SIGSTOP), as by a snapshot of their machine", alert: "MusterGone", also: []string{"MusterProcessAway", "MusterWatchStands"}, cure: "the processes continue", comes: (*fire).allStop}},
	{
		{trouble: "a process is killed four times", alert: "MusterRestarts", cure: "a quarter of an hour passes", forever: true, comes: (*fire).killedAgain},
		{trouble: "a background loop panics", check: "loops", apart: true, alert: "MusterLoopFalls", cure: "the loop has not failed for a quarter of an hour", forever: true, comes: (*fire).loopFalls},
	},
}

// illsAfter are brought about when all is counted, for nothing is right after them.
var illsAfter = [][]ill{
	{{trouble: "the last event of a log is deleted", check: "history", apart: true, alert: "MusterHistoryAltered", cure: "a person judges the log (`muster events verify`)", forever: true, comes: (*fire).eventDeleted}},
}

// mayRing are the alerts that faults of the storm may raise, though each of these is mended soon.
var mayRing = map[fault][]string{
	aPanic:     {"MusterLoopFalls"},
	stalled:    {"MusterPoolTooSmall"},                                 // its ten minutes have the troubles of before in them, too
	aKill:      {"MusterRestarts", "MusterFails", "MusterReportsFail"}, // a client asks for an inventory that cannot be made
	deadShard:  {"MusterTilesIncomplete"},                              // one after the other, within its ten minutes
	fullBucket: {"MusterSetSomethingAside", "MusterReportsFail"},
}

// vigil is a Prometheus with the rules of the kit, and who looks at its alerts.
type vigil struct {
	*fire
	prometheus promQL

	mu    sync.Mutex
	rings map[string]time.Time // alerts that fire, since when, by ringing's name
	rang  map[string]time.Time // those that fired since the last round
	rows  []string             // of the table
}

// lookAtAlerts is how often who looks on does, and Prometheus at the processes.
const lookAtAlerts = 2 * time.Second

// watched has a Prometheus scrape the replicas at their MUSTER_OPS_LISTEN.
func (f *fire) watched(t *testing.T) *vigil {
	t.Helper()
	var targets []string
	for _, r := range f.replicas {
		targets = append(targets, "'"+r.figures+"'")
	}
	rules, err := filepath.Abs(filepath.Join(root, "kit/prometheus/muster.rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	config := fileWith(t, "prometheus.yml", fmt.Sprintf(`global: {scrape_interval: %[1]s, scrape_timeout: %[1]s, evaluation_interval: %[1]s}
rule_files: [%[2]q]
scrape_configs:
  - job_name: muster
    static_configs: [{targets: [%[3]s]}]
`, lookAtAlerts, rules, strings.Join(targets, ", ")))
	v := &vigil{fire: f, rings: map[string]time.Time{}, rang: map[string]time.Time{}}
	v.prometheus = promQL{"http://" + startListening(t, "prometheus", "--config.file="+config, "--storage.tsdb.path="+t.TempDir(), "--web.listen-address=127.0.0.1:0")}
	eventually(t, "Prometheus sees the replicas", func() bool {
		got, err := client{base: v.prometheus.base}.try(t.Context(), "GET", "/-/ready", nil)
		return err == nil && got.status == 200 && v.prometheus.query(t, `count(up{job="muster"} == 1)`, time.Now()) == float64(len(f.replicas))
	})
	go func() { // ends with the test, whose context ends what it asks
		_ = pause.Every(t.Context(), lookAtAlerts/2, func() { v.look(t) })
	}()
	return v
}

// look notes which alerts fire.
func (v *vigil) look(t *testing.T) {
	var answer struct {
		Data struct {
			Alerts []struct {
				Labels map[string]string
				State  string
			}
		}
	}
	got, err := client{base: v.prometheus.base}.try(t.Context(), "GET", "/api/v1/alerts", nil)
	if err != nil || json.Unmarshal(got.body, &answer) != nil {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	now := map[string]time.Time{}
	for _, a := range answer.Data.Alerts {
		if a.State != "firing" {
			continue
		}
		name := ringing(a.Labels["alertname"], a.Labels["check"])
		since, known := v.rings[name]
		if !known {
			since = time.Now()
		}
		now[name] = since
		if _, known := v.rang[name]; !known {
			v.rang[name] = since
			v.book.note("%s at %s: %s fires; %s", v.book.time(since), v.book.at(), name, readinessOf(t, a.Labels["instance"], a.Labels["check"]))
		}
	}
	v.rings = now
}

// readinessOf is what a process says of a check, so that an alert which nobody expects explains
// itself.
func readinessOf(t *testing.T, instance, check string) string {
	if check == "" {
		return "of no check"
	}
	got, err := client{base: "http://" + instance}.try(t.Context(), "GET", "/readyz", nil)
	if err != nil {
		return instance + " does not answer: " + err.Error()
	}
	var ready struct {
		Checks []struct{ Name, Status, Detail string }
	}
	if err := json.Unmarshal(got.body, &ready); err != nil {
		return instance + " says " + string(got.body)
	}
	for _, c := range ready.Checks {
		if c.Name == check {
			return fmt.Sprintf("%s says %s: %s", instance, c.Status, c.Detail)
		}
	}
	return instance + " has no such check"
}

// ringing is what an alert is called here: with the check that it is about.
func ringing(alert, check string) string { return strings.TrimSuffix(alert+" "+check, " ") }

// rings is what its alert is called.
func (i ill) rings() string {
	if i.apart {
		return i.alert
	}
	return ringing(i.alert, i.check)
}

func (v *vigil) fires(name string) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	_, fires := v.rings[name]
	return fires
}

// afresh forgets what fired and returns what still does.
func (v *vigil) afresh() (still []string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.rang = maps.Clone(v.rings)
	return slices.Sorted(maps.Keys(v.rings))
}

func (v *vigil) fired() []string {
	v.mu.Lock()
	defer v.mu.Unlock()
	return slices.Sorted(maps.Keys(v.rang))
}

// keep brings about the troubles of each round together, waits for their alerts, mends them, and
// waits until the alerts are over.
func (v *vigil) keep(t *testing.T, rounds [][]ill) {
	t.Helper()
	for n, round := range rounds {
		before := v.afresh()
		t.Logf("%s: %s", v.book.time(time.Now()), round[0].trouble)
		allowed := slices.Clone(before)
		v.book.reach(n, len(rounds), round[0].trouble)
		began := time.Now()
		var goes []func(*testing.T)
		for _, i := range round {
			goes = append(goes, i.comes(v.fire, t))
			allowed = append(allowed, i.rings())
			allowed = append(allowed, i.also...)
			if slices.Contains(before, i.rings()) {
				v.book.wrong("%s: %s fires before it", i.trouble, i.rings())
			}
		}
		came := map[string]string{}
		for _, i := range round {
			name := i.rings()
			came[name] = "never"
			if within(time.Until(began.Add(alertedWithin)), func() bool { return v.fires(name) }) {
				v.mu.Lock()
				came[name] = v.rings[name].Sub(began).Round(time.Second).String()
				v.mu.Unlock()
			} else {
				v.book.wrong("%s: %s does not fire within %s; %v do", i.trouble, name, alertedWithin, v.fired())
			}
		}
		mended := time.Now()
		for _, goes := range goes {
			goes(t)
		}
		for _, i := range round {
			name, over := i.rings(), "stays"
			if !i.forever {
				over = "not within " + alertedWithin.String()
				if within(time.Until(mended.Add(alertedWithin)), func() bool { return !v.fires(name) }) {
					over = time.Since(mended).Round(time.Second).String()
				} else {
					v.book.wrong("%s: %s still fires %s after it was mended", i.trouble, name, alertedWithin)
				}
			}
			v.rows = append(v.rows, fmt.Sprintf("%s\t%s\t%s\t%s\t%s\t%s", i.trouble, cmp.Or(i.check, "–"), i.alert, sectionOf(i.alert), came[name], over))
		}
		for _, name := range v.fired() {
			alert, _, _ := strings.Cut(name, " ")
			if !slices.Contains(allowed, name) && !slices.Contains(allowed, alert) {
				v.book.wrong("%s: %s fires, too", round[0].trouble, name)
			}
		}
		within(alertedWithin, func() bool { // what came with it
			return !slices.ContainsFunc(v.afresh(), func(name string) bool { return !slices.Contains(before, name) && !round[0].forever })
		})
	}
}

// judge holds the alerts that fired in the storm to its faults, and to those that fired before.
func (v *vigil) judge(allowed []string) {
	for fault, alerts := range mayRing {
		if v.book.times(fault) > 0 {
			allowed = append(allowed, alerts...)
		}
	}
	for _, name := range v.fired() {
		alert, _, _ := strings.Cut(name, " ")
		if !slices.Contains(allowed, alert) {
			v.book.wrong("in the storm %s fires", name)
		}
	}
	v.book.note("alerts that fired in the storm: %v", v.fired())
}

// sectionOf is where an alert's runbook is, as the kit's rules have it.
func sectionOf(alert string) string { return "runbooks/alerts.md#" + strings.ToLower(alert) }

// replicaStops stops the last replica.
func (f *fire) replicaStops(t *testing.T) func(*testing.T) {
	goOn := f.replicas[len(f.replicas)-1].pause(t)
	return func(*testing.T) { goOn() }
}

func (f *fire) allStop(t *testing.T) func(*testing.T) {
	var all []func()
	for _, r := range f.replicas {
		all = append(all, r.pause(t))
	}
	return func(*testing.T) {
		for _, goOn := range all {
			goOn()
		}
	}
}

// linesCut cuts the lines of all replicas to somebody.
func linesCut(to string) func(f *fire, t *testing.T) func(*testing.T) {
	return func(f *fire, _ *testing.T) func(*testing.T) {
		var cut []*wire
		for _, w := range f.wires {
			if strings.Contains(w.name, " to "+to) {
				w.Cut()
				cut = append(cut, w)
			}
		}
		return func(*testing.T) {
			for _, w := range cut {
				w.Heal()
			}
		}
	}
}

func (f *fire) shardDies(t *testing.T) func(*testing.T) {
	f.killShard(t, 1)
	return func(t *testing.T) { f.shards.Servers[1].Restart(t) }
}

func (f *fire) killedAgain(t *testing.T) func(*testing.T) {
	r := f.replicas[0]
	for range 4 {
		eventually(t, r.name+" is scraped", r.isReady)
		_ = pause.For(t.Context(), 2*lookAtAlerts) // each start is seen by Prometheus
		r.kill(t, false)
	}
	return func(t *testing.T) { eventually(t, r.name+" is ready", r.isReady) }
}

func (f *fire) loopFalls(t *testing.T) func(*testing.T) {
	f.replicas[1].breaks(t)
	return func(*testing.T) {}
}

// eventDeleted deletes the newest event of a log.
func (f *fire) eventDeleted(t *testing.T) func(*testing.T) {
	db := pgtest.Connect(t, f.url)
	pgtest.Unguard(t, db)
	db.MustExec(`DELETE FROM events WHERE log = 'fleet' AND position = (SELECT max(position) FROM events WHERE log = 'fleet')`)
	return func(*testing.T) {}
}

// tableOfTroubles is the table of docs/operators.md.
func tableOfTroubles() string {
	var text strings.Builder
	text.WriteString("| Trouble | Check | Alert | Over when |\n|---|---|---|---|\n")
	for _, i := range slices.Concat(slices.Concat(illsBefore...), slices.Concat(illsAfter...)) {
		check := "–"
		if i.check != "" {
			check = "`" + i.check + "`"
		}
		fmt.Fprintf(&text, "| %s | %s | [%s](%s) | %s |\n", i.trouble, check, i.alert, sectionOf(i.alert), i.cure)
	}
	return text.String()
}

// TestTheTableOfTroubles: docs/operators.md has the troubles that `make chaos` brings about, and each
// alert of theirs has a rule and a section.
func TestTheTableOfTroubles(t *testing.T) {
	t.Parallel()
	if table := tableOfTroubles(); !strings.Contains(readText(t, "docs/operators.md"), "\n"+table) {
		t.Errorf("docs/operators.md has to have this table:\n%s", table)
	}
	rules, sections := alertRules(t), alertSections(t)
	for _, i := range slices.Concat(slices.Concat(illsBefore...), slices.Concat(illsAfter...)) {
		if _, ok := sections[i.alert]; !ok || rules[i.alert] == "" {
			t.Errorf("%s: %s has no rule or no section", i.trouble, i.alert)
		}
	}
}
