package window

import (
	"slices"
	"strconv"

	"muster/internal/engine"
	"muster/internal/engine/tuning"
	"muster/internal/report/snapshot"
)

// HintedSettings are the settings of an engine that hints read, in small letters.
func HintedSettings(name string) []string { return hintsOf(name).Settings }

func hintsOf(name string) tuning.Hints {
	if hints := engine.Described(name).Hints; hints != nil {
		return *hints
	}
	return tuning.Hints{}
}

// Hints compares the settings of a scorecard's instance with its machine and the window's load;
// asked is false for inputs from before hints, and for an engine without any. An unknown
// setting has a hint that says so.
func Hints(doc snapshot.Document) (all []tuning.Hint, asked bool) {
	if doc.Tuning == nil || len(doc.Instances) == 0 {
		return nil, false
	}
	judges := hintsOf(doc.Instances[0].Engine).Judges
	l := loadOf(doc)
	for _, judge := range judges {
		all = append(all, judge(l))
	}
	return all, len(judges) > 0
}

func loadOf(doc snapshot.Document) tuning.Load {
	t := doc.Tuning
	l := tuning.Load{Settings: map[string]tuning.Setting{}, Open: t.Open}
	for _, s := range slices.Backward(t.Settings) {
		l.Settings[s.Name] = tuning.Setting{Value: s.Value, Unit: s.Unit}
	}
	if t.SampledAt != nil {
		l.OpenAt = *t.SampledAt
	}
	use, _ := Utilization(doc)
	l.MemoryUse, l.CPUUse = useOf(use.Of[Memory], "memory"), useOf(use.Of[CPU], "CPU")
	l.Memory, l.NoMemory = memoryOf(t.Machines)
	l.CPUs, l.NoCPUs = cpusOf(t.Machines)
	if a := doc.Instances[0].Assessment; a != nil {
		for _, db := range a.Databases {
			if db.SizeBytes == nil {
				l.Databases = 0
				break
			}
			l.Databases += float64(*db.SizeBytes)
		}
	}
	return l
}

// useOf is how a resource was used, and why that says too little.
func useOf(r Resource, name string) tuning.Use {
	u := tuning.Use{P95: r.P95, Busy: r.Busy, Measured: r.Measured, BusyHours: tuning.Grouped(r.Busy) + " of " + tuning.Plural(r.Measured, "hour", "hours")}
	if r.Few() {
		u.Thin = "too little data: " + name + " was measured in " + tuning.Plural(r.Measured, "hour", "hours") + ", and a hint needs " + strconv.Itoa(fewHours)
	}
	return u
}

const (
	hostUnknown = "the host's size is not known: no agent reported it in the last three days"
	hostShared  = "the host runs several instances: decide how they share its memory"
)

// memoryOf is the memory of hosts that are all as large and run one instance each.
func memoryOf(machines []snapshot.Machine) (bytes float64, why string) {
	for _, m := range machines {
		switch {
		case m.MemoryBytes == nil:
			return 0, "the memory of host " + m.Host + " is not known: its agent sends percentages only"
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
			return 0, "the number of CPUs of host " + m.Host + " is not known: its agent does not report each"
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
