package analysis

import (
	"cmp"
	"slices"
	"strconv"

	"muster/internal/snapshot"
)

// The states of a hint.
const (
	HintChange  = "change"  // another value fits what was measured
	HintFits    = "fits"    // nothing measured speaks against the value
	HintUnknown = "unknown" // it cannot be judged
)

// Hint is what a setting is held against, and what follows.
type Hint struct {
	Setting    string
	State      string
	Measured   string // the setting's value, and what there is beside it
	Against    string
	Suggestion string // a value where arithmetic gives one, else words; of HintUnknown why it cannot be judged
	Source     Page
}

// Page is a page of a vendor's documentation, by edition.
type Page struct{ Name, Address string }

func pgPage(name string) Page {
	return Page{"PostgreSQL 15 documentation, " + name, "https://www.postgresql.org/docs/15/" + name + ".html"}
}

func msPage(name string) Page {
	return Page{"SQL Server 2022 documentation, " + name,
		"https://learn.microsoft.com/en-us/sql/database-engine/configure-windows/" + name + "?view=sql-server-ver16"}
}

func oraPage(release, name string) Page {
	return Page{"Oracle Database Reference " + release + "c, " + name, "https://docs.oracle.com/en/database/oracle/oracle-database/" + release + "/refrn/" + name + ".html"}
}

// tuned is an engine's hints, in the order in which they are printed.
type tuned struct {
	settings []string
	hints    []func(l load) Hint
}

var tunedEngines = map[string]tuned{
	"postgresql": {
		[]string{"shared_buffers", "work_mem", "max_connections", "effective_cache_size", "maintenance_work_mem", "autovacuum_work_mem",
			"autovacuum_max_workers", "autovacuum", "max_wal_size", "checkpoint_timeout", "checkpoint_completion_target", "random_page_cost"},
		[]func(load) Hint{sharedBuffers, workMem, maxConnections, effectiveCacheSize, autovacuumMemory, maxWALSize, completionTarget, randomPageCost},
	},
	"sqlserver": {
		[]string{"max server memory (mb)", "max degree of parallelism", "cost threshold for parallelism"},
		[]func(load) Hint{maxServerMemory, maxDOP, costThreshold},
	},
	"oracle": {
		[]string{"sga_target", "pga_aggregate_target", "memory_target", "processes", "sessions"},
		[]func(load) Hint{oracleMemory, pgaTarget, oracleSessions},
	},
}

// HintedSettings are the settings of an engine that hints read, in small letters.
func HintedSettings(engine string) []string { return tunedEngines[engine].settings }

// Hints holds the settings of a scorecard's instance against its machine and the window's
// load; asked is false of inputs from before there were hints, and of an engine without
// any. A setting that nobody told of has a hint that says so.
func Hints(doc snapshot.Document) (all []Hint, asked bool) {
	if doc.Tuning == nil || len(doc.Instances) == 0 {
		return nil, false
	}
	engine := tunedEngines[doc.Instances[0].Engine]
	l := loadOf(doc)
	for _, hint := range engine.hints {
		all = append(all, hint(l))
	}
	return all, len(engine.hints) > 0
}

// load is what settings are held against.
type load struct {
	doc      snapshot.Document
	settings map[string]snapshot.Setting
	use      UtilizationSummary
	// Of the machine: 0 and why where it is not known, or is not the instance's alone.
	memory    float64
	noMemory  string
	cpus      int
	noCPUs    string
	databases float64 // their sizes; 0: not known of each
}

func loadOf(doc snapshot.Document) load {
	l := load{doc: doc, settings: map[string]snapshot.Setting{}}
	for _, s := range slices.Backward(doc.Tuning.Settings) {
		l.settings[s.Name] = s
	}
	l.use, _ = Utilization(doc)
	l.memory, l.noMemory = memoryOf(doc.Tuning.Machines)
	l.cpus, l.noCPUs = cpusOf(doc.Tuning.Machines)
	if a := doc.Instances[0].Assessment; a != nil {
		for _, db := range a.Databases {
			if db.SizeBytes == nil {
				l.databases = 0
				break
			}
			l.databases += float64(*db.SizeBytes)
		}
	}
	return l
}

const (
	hostUnknown = "the host's size is not known: no agent on it told of it in the last three days"
	hostShared  = "the host runs several instances, and how its memory is to be shared is yours to say"
)

// memoryOf is the memory of hosts that are all as large and run one instance each.
func memoryOf(machines []snapshot.Machine) (bytes float64, why string) {
	for _, m := range machines {
		switch {
		case m.MemoryBytes == nil:
			return 0, "how much memory host " + m.Host + " has is not known: its agent sends percentages only"
		case m.Instances > 1:
			return 0, hostShared
		case bytes > 0 && bytes != float64(*m.MemoryBytes):
			return 0, "the instance's hosts differ in memory"
		}
		bytes = float64(*m.MemoryBytes)
	}
	if bytes == 0 {
		why = hostUnknown
	}
	return bytes, why
}

func cpusOf(machines []snapshot.Machine) (n int, why string) {
	for _, m := range machines {
		switch {
		case m.CPUs == nil:
			return 0, "how many CPUs host " + m.Host + " has is not known: its agent does not tell of each"
		case n > 0 && n != *m.CPUs:
			return 0, "the instance's hosts differ in CPUs"
		}
		n = *m.CPUs
	}
	if n == 0 {
		why = hostUnknown
	}
	return n, why
}

// thin says why a resource cannot be held against: too little of the window was measured.
func (l load) thin(resource int, name string) string {
	r := l.use.Of[resource]
	if !r.Few() {
		return ""
	}
	return "the window is too thin: " + name + " was measured in " + Plural(r.Measured, "hour", "hours") + ", it takes " + strconv.Itoa(fewHours)
}

// bytes is a setting that holds a size; blank is the unit of a value without one.
func (l load) bytes(name, blank string) (float64, bool) {
	s, ok := l.settings[name]
	if !ok {
		return 0, false
	}
	return bytesOf(s.Value, s.Unit, blank)
}

func (l load) number(name string) (float64, bool) {
	n, err := strconv.ParseFloat(l.settings[name].Value, 64)
	return n, err == nil && n >= 0
}

// against is a hint that is not yet judged.
func against(setting, against string, source Page) Hint {
	return Hint{Setting: setting, Against: against, Source: source, State: HintUnknown}
}

func (h Hint) unknown(why string) Hint {
	h.State, h.Suggestion = HintUnknown, why
	return h
}

// untold is a hint on a setting of which no assessment told what can be read.
func (h Hint) untold(l load, names ...string) Hint {
	for _, name := range names {
		if s, ok := l.settings[name]; ok {
			h.Measured = s.Value
			return h.unknown("its value cannot be read as a number")
		}
	}
	h.Measured = "–"
	return h.unknown("no assessment told its value")
}

func (h Hint) change(suggestion string) Hint {
	h.State, h.Suggestion = HintChange, suggestion
	return h
}

func (h Hint) fits() Hint {
	h.State = HintFits
	return h
}

// hintOrder puts what is to be changed first and what cannot be judged last.
var hintOrder = []string{HintChange, HintFits, HintUnknown}

// SortHints puts what is to be done first.
func SortHints(all []Hint) {
	slices.SortStableFunc(all, func(a, b Hint) int {
		return cmp.Compare(slices.Index(hintOrder, a.State), slices.Index(hintOrder, b.State))
	})
}
