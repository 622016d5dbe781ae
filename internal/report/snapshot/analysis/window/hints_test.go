package window_test

import (
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"muster/domain/report"
	"muster/internal/engine/tuning"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/window"
	"muster/internal/report/snapshot/snapshottest"
)

// tuned is a scorecard of a server of an engine on a host of 64 GB and 16 CPUs that is its
// own, with those settings, each as "value" or "value unit".
func tuned(engine string, settings map[string]string) snapshot.Document {
	doc := snapshottest.Rich(report.InstanceScorecard)
	doc.Instances[0].Engine = engine
	doc.Tuning.Settings = nil
	for name, value := range settings {
		value, unit, _ := strings.Cut(value, " ")
		doc.Tuning.Settings = append(doc.Tuning.Settings, snapshot.Setting{Name: name, Value: value, Unit: unit})
	}
	return doc
}

// hintOf is the hint on a setting.
func hintOf(t *testing.T, doc snapshot.Document, setting string) tuning.Hint {
	t.Helper()
	all, ok := window.Hints(doc)
	for _, h := range all {
		if h.Setting == setting {
			return h
		}
	}
	t.Fatalf("no hint on %s among %d (%v)", setting, len(all), ok)
	return tuning.Hint{}
}

func hostOf(memory int64, cpus, instances int) []snapshot.Machine {
	m := snapshot.Machine{Host: "db", At: snapshottest.AsOf(), Instances: instances}
	if memory > 0 {
		m.MemoryBytes = &memory
	}
	if cpus > 0 {
		m.CPUs = &cpus
	}
	return []snapshot.Machine{m}
}

const gigabyte = int64(1 << 30)

// Each verdict at its edge, and the suggestion that arithmetic gives.
func TestHintsAtTheirEdges(t *testing.T) {
	t.Parallel()
	with := func(settings map[string]string, name, value string) map[string]string {
		out := map[string]string{name: value}
		for k, v := range settings {
			if k != name {
				out[k] = v
			}
		}
		return out
	}
	pg := map[string]string{"shared_buffers": "16 GB", "max_connections": "400", "work_mem": "4 MB", "effective_cache_size": "32 GB",
		"autovacuum": "on", "autovacuum_max_workers": "3", "autovacuum_work_mem": "-1 kB", "maintenance_work_mem": "64 MB", "max_wal_size": "16 GB",
		"checkpoint_completion_target": "0.9", "random_page_cost": "4"}
	ms := map[string]string{"max server memory (mb)": "49152", "max degree of parallelism": "8", "cost threshold for parallelism": "50"}
	ora := map[string]string{"sga_target": "20G", "pga_aggregate_target": "4G", "memory_target": "0", "processes": "300", "sessions": "472"}
	for _, test := range []struct {
		engine   string
		settings map[string]string
		hint     string
		state    string
		says     string // the suggestion has
	}{
		{"postgresql", pg, "shared_buffers", tuning.Fits, ""},
		{"postgresql", with(pg, "shared_buffers", "9830 MB"), "shared_buffers", tuning.Change, "shared_buffers = '16GB'"},
		{"postgresql", with(pg, "shared_buffers", "9831 MB"), "shared_buffers", tuning.Fits, ""},
		{"postgresql", with(pg, "shared_buffers", "3355443 8kB"), "shared_buffers", tuning.Fits, ""},
		{"postgresql", with(pg, "shared_buffers", "3355444 8kB"), "shared_buffers", tuning.Change, "'16GB'"},
		{"postgresql", with(pg, "shared_buffers", "many"), "shared_buffers", tuning.Unknown, "cannot be read"},
		{"postgresql", with(pg, "work_mem", "46 MB"), "work_mem", tuning.Fits, ""},
		{"postgresql", with(pg, "work_mem", "47 MB"), "work_mem", tuning.Change, "work_mem = '46MB'"},
		{"postgresql", with(pg, "max_connections", "60000"), "work_mem", tuning.Change, "pooler"},
		{"postgresql", with(pg, "max_connections", "265"), "max_connections", tuning.Unknown, "the peak of the window is not kept"},
		{"postgresql", with(pg, "max_connections", "264"), "max_connections", tuning.Change, "pooler"},
		{"postgresql", with(pg, "autovacuum", "off"), "autovacuum", tuning.Change, "autovacuum = on"},
		{"postgresql", with(pg, "maintenance_work_mem", "2730 MB"), "autovacuum", tuning.Fits, ""},
		{"postgresql", with(pg, "maintenance_work_mem", "2731 MB"), "autovacuum", tuning.Change, "autovacuum_work_mem = '2730MB'"},
		{"postgresql", with(pg, "autovacuum_work_mem", "3GB"), "autovacuum", tuning.Change, "2730MB"},
		{"postgresql", with(pg, "max_wal_size", "16383"), "max_wal_size", tuning.Change, "max_wal_size = '16GB'"},
		{"postgresql", pg, "max_wal_size", tuning.Fits, ""},
		{"postgresql", with(pg, "checkpoint_completion_target", "0.89"), "checkpoint_completion_target", tuning.Change, "0.9"},
		{"postgresql", with(pg, "random_page_cost", "1.1"), "random_page_cost", tuning.Fits, ""},
		{"postgresql", pg, "random_page_cost", tuning.Unknown, "the kind of storage is not known"},
		{"sqlserver", ms, "max server memory (MB)", tuning.Fits, ""},
		{"sqlserver", with(ms, "max server memory (mb)", "2147483647"), "max server memory (MB)", tuning.Change, "= 49152"},
		{"sqlserver", with(ms, "max server memory (mb)", "58982"), "max server memory (MB)", tuning.Fits, ""},
		{"sqlserver", with(ms, "max server memory (mb)", "58983"), "max server memory (MB)", tuning.Change, "= 49152"},
		{"sqlserver", with(ms, "max server memory (mb)", "32767"), "max server memory (MB)", tuning.Change, "= 49152"},
		{"sqlserver", ms, "max degree of parallelism", tuning.Fits, ""},
		{"sqlserver", with(ms, "max degree of parallelism", "0"), "max degree of parallelism", tuning.Change, "= 8 on one NUMA node"},
		{"sqlserver", with(ms, "max degree of parallelism", "12"), "max degree of parallelism", tuning.Unknown, "NUMA"},
		{"sqlserver", ms, "cost threshold for parallelism", tuning.Fits, ""},
		{"oracle", ora, "memory_target, sga_target", tuning.Fits, ""},
		{"oracle", with(ora, "sga_target", "60G"), "memory_target, sga_target", tuning.Change, "less than the host has"},
		{"oracle", with(ora, "memory_target", "68719476735"), "memory_target, sga_target", tuning.Fits, ""},
		{"oracle", with(ora, "memory_target", "68719476736"), "memory_target, sga_target", tuning.Change, ""},
		{"oracle", with(ora, "sga_target", "0"), "memory_target, sga_target", tuning.Unknown, "by hand"},
		{"oracle", ora, "pga_aggregate_target", tuning.Fits, ""},
		{"oracle", with(ora, "pga_aggregate_target", "4095M"), "pga_aggregate_target", tuning.Change, "pga_aggregate_target = 4096M"},
		{"oracle", ora, "processes, sessions", tuning.Unknown, "peak"},
		{"oracle", with(ora, "sessions", "471"), "processes, sessions", tuning.Change, "sessions = 472"},
	} {
		h := hintOf(t, tuned(test.engine, test.settings), test.hint)
		if h.State != test.state || !strings.Contains(h.Suggestion, test.says) {
			t.Errorf("%s, %v: %s %q (%s), want %s %q", test.hint, test.settings, h.State, h.Suggestion, h.Measured, test.state, test.says)
		}
	}
}

// What a hint stands on is missing: it says which, and is not silent.
func TestAHintWithoutItsInputsNamesThem(t *testing.T) {
	t.Parallel()
	settings := map[string]map[string]string{
		"postgresql": {"shared_buffers": "128 MB", "max_connections": "100", "work_mem": "1 TB", "effective_cache_size": "1 MB", "autovacuum_max_workers": "3", "autovacuum_work_mem": "1 TB", "random_page_cost": "4"},
		"sqlserver":  {"max server memory (mb)": "999999", "max degree of parallelism": "64", "cost threshold for parallelism": "5"},
		"oracle":     {"sga_target": "999G", "pga_aggregate_target": "1T"},
	}
	byMemory := []string{"shared_buffers", "work_mem", "effective_cache_size", "autovacuum", "random_page_cost", "max server memory (MB)", "memory_target, sga_target"}
	for name, test := range map[string]struct {
		spoil func(doc *snapshot.Document)
		hints []string
		says  string
	}{
		"no host":          {func(doc *snapshot.Document) { doc.Tuning.Machines = nil }, append(byMemory, "max degree of parallelism"), "the host's size is not known"},
		"percentages only": {func(doc *snapshot.Document) { doc.Tuning.Machines = hostOf(0, 0, 1) }, byMemory, "its agent sends percentages only"},
		"a shared host":    {func(doc *snapshot.Document) { doc.Tuning.Machines = hostOf(64*gigabyte, 4, 2) }, byMemory, "runs several instances"},
		"hosts that differ": {func(doc *snapshot.Document) {
			doc.Tuning.Machines = append(doc.Tuning.Machines, hostOf(gigabyte, 2, 1)...)
		}, byMemory, "differ in memory"},
		"a host next to no one": {func(doc *snapshot.Document) { doc.Tuning.Machines = append(doc.Tuning.Machines, hostOf(0, 0, 0)...) }, byMemory, "the memory of host db is not known"},
		"a machine of 512 MB":   {func(doc *snapshot.Document) { doc.Tuning.Machines = hostOf(gigabyte/2, 4, 1) }, []string{"shared_buffers"}, "below 1 GB"},
		"no CPUs":               {func(doc *snapshot.Document) { doc.Tuning.Machines = hostOf(64*gigabyte, 0, 1) }, []string{"max degree of parallelism"}, "the number of CPUs"},
		"a thin window": {func(doc *snapshot.Document) {
			doc.Utilization.CPUPercent, doc.Utilization.MemoryPercent = doc.Utilization.CPUPercent[:23], doc.Utilization.MemoryPercent[:23]
		}, []string{"effective_cache_size", "cost threshold for parallelism"}, "measured in 23 hours, and a hint needs 24"},
		"no utilization": {func(doc *snapshot.Document) { doc.Utilization = nil }, []string{"effective_cache_size", "cost threshold for parallelism"}, "measured in 0 hours"},
		"no sessions":    {func(doc *snapshot.Document) { doc.Tuning.Open, doc.Tuning.SampledAt = nil, nil }, []string{"max_connections"}, "nobody samples"},
		"no settings": {func(doc *snapshot.Document) { doc.Tuning.Settings = nil }, append(byMemory, "max_connections", "max_wal_size", "checkpoint_completion_target",
			"max degree of parallelism", "cost threshold for parallelism", "pga_aggregate_target", "processes, sessions"), "no assessment told its value"},
	} {
		judged := 0
		for engine, values := range settings {
			doc := tuned(engine, values)
			test.spoil(&doc)
			all, _ := window.Hints(doc)
			for _, h := range all {
				if !slices.Contains(test.hints, h.Setting) {
					continue
				}
				judged++
				if h.Setting == "max server memory (MB)" && strings.HasPrefix(h.Suggestion, "set a limit; which one cannot be told") {
					continue // that there is none is wrong on any host
				}
				if h.State != tuning.Unknown || !strings.Contains(h.Suggestion, test.says) {
					t.Errorf("%s: %s %s %q, want %q", name, h.Setting, h.State, h.Suggestion, test.says)
				}
			}
		}
		if judged != len(test.hints) {
			t.Errorf("%s: %d hints of %d are there", name, judged, len(test.hints))
		}
	}
	doc := tuned("postgresql", settings["postgresql"])
	doc.Utilization.MemoryPercent = doc.Utilization.MemoryPercent[:24]
	if h := hintOf(t, doc, "effective_cache_size"); h.State != tuning.Change {
		t.Errorf("24 hours of memory: %+v", h)
	}
	doc.Tuning = nil
	if all, asked := window.Hints(doc); asked || all != nil {
		t.Errorf("inputs without: %v", all)
	}
	if _, asked := window.Hints(tuned("mongodb", nil)); asked {
		t.Error("there are hints for MongoDB")
	}
}

// What the caches come to is what the window says, counted here from its hours; what the
// data takes decides on random_page_cost.
func TestHintsAreBasedOnTheWindow(t *testing.T) {
	t.Parallel()
	doc := tuned("postgresql", map[string]string{"shared_buffers": "16 GB", "effective_cache_size": "4 GB", "random_page_cost": "4"})
	var hours []float64
	for _, v := range doc.Utilization.MemoryPercent {
		if v != nil {
			hours = append(hours, *v)
		}
	}
	above := func(p float64) (n int) {
		for _, v := range hours {
			if v > p {
				n++
			}
		}
		return n
	}
	p95 := math.Inf(1)
	for _, v := range hours {
		if 100*above(v) <= 5*len(hours) {
			p95 = min(p95, v)
		}
	}
	want := int(16 + 64*(1-p95/100))
	h := hintOf(t, doc, "effective_cache_size")
	if got := regexp.MustCompile(`'(\d+)GB'`).FindStringSubmatch(h.Suggestion); got == nil || got[1] != strconv.Itoa(want) {
		t.Errorf("%q, want %d GB", h.Suggestion, want)
	}
	for sizes, want := range map[[2]int64]string{
		{40, 23}: tuning.Change, {40, 24}: tuning.Unknown, {40, -1}: tuning.Unknown,
	} {
		doc.Instances[0].Assessment.Databases = nil
		for _, n := range sizes {
			fact := snapshot.DatabaseFact{Name: "d"}
			if n *= gigabyte; n > 0 {
				fact.SizeBytes = &n
			}
			doc.Instances[0].Assessment.Databases = append(doc.Instances[0].Assessment.Databases, fact)
		}
		if h := hintOf(t, doc, "random_page_cost"); h.State != want {
			t.Errorf("%v GB of 64: %s %q, want %s", sizes, h.State, h.Suggestion, want)
		}
	}
	busy := tuned("sqlserver", map[string]string{"cost threshold for parallelism": "5"})
	for i, v := range busy.Utilization.CPUPercent {
		if v != nil && i%20 == 0 {
			*v = 95
		}
	}
	if h := hintOf(t, busy, "cost threshold for parallelism"); h.State != tuning.Change {
		t.Errorf("a busy host: %+v", h)
	}
}

// Every hint names the page that it stands on, and every setting that it reads is asked
// for.
func TestEachHintHasItsSource(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"postgresql", "sqlserver", "oracle"} {
		all, _ := window.Hints(tuned(engine, nil))
		for _, h := range all {
			if !strings.HasPrefix(h.Source.Address, "https://") || h.Source.Name == "" || h.Against == "" {
				t.Errorf("%s: %+v", engine, h)
			}
		}
		for _, name := range window.HintedSettings(engine) {
			if name != strings.ToLower(name) {
				t.Errorf("%s is looked for in small letters", name)
			}
		}
	}
}

// TestFault40AHintIsLimitedToFreeMemory: what other programs take, and what another hint would take, is not left for
// work_mem.
func TestFault40AHintIsLimitedToFreeMemory(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		shared, work string
		memory       float64 // in use, percent
		state, says  string
	}{
		"56 GB beside shared_buffers": {"8 GB", "16 MB", 78.6, tuning.Change, "13.7 GB were free in 95 of 100 hours, less 8 GB for more shared_buffers"},
		"enough is free":              {"16 GB", "16 MB", 78.6, tuning.Fits, "13.7 GB were free in 95 of 100 hours"},
		"nearly nothing is in use":    {"16 GB", "16 MB", 10, tuning.Fits, "48 GB beside shared_buffers"},
	} {
		doc := tuned("postgresql", map[string]string{"shared_buffers": test.shared, "work_mem": test.work, "max_connections": "400"})
		doc.Tuning.Machines = hostOf(64*gigabyte, 16, 1)
		for i := range doc.Utilization.MemoryPercent {
			doc.Utilization.MemoryPercent[i] = &test.memory
		}
		if h := hintOf(t, doc, "work_mem"); h.State != test.state || !strings.Contains(h.Measured, test.says) {
			t.Errorf("%s: %s, %s", name, h.State, h.Measured)
		}
	}
}
