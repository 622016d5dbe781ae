package sqlserver

import (
	"strconv"

	"muster/internal/engine/tuning"
)

var hints = tuning.Hints{
	Settings: []string{"max server memory (mb)", "max degree of parallelism", "cost threshold for parallelism"},
	Judges:   []func(tuning.Load) tuning.Hint{maxServerMemory, maxDOP, costThreshold},
}

func msPage(name string) tuning.Page {
	return tuning.Page{
		Name:    "SQL Server 2022 documentation, " + name,
		Address: "https://learn.microsoft.com/en-us/sql/database-engine/configure-windows/" + name + "?view=sql-server-ver16",
	}
}

// unlimited is what max server memory is where nobody has set it.
const unlimited = 2147483647 * tuning.MB

func maxServerMemory(l tuning.Load) tuning.Hint {
	h := tuning.Against("max server memory (MB)", "75% of the host's memory that nothing else takes; “change” below 50% and above 90%", msPage("server-memory-server-configuration-options"))
	is, ok := l.Bytes("max server memory (mb)", "MB")
	if !ok {
		return h.Untold(l, "max server memory (mb)")
	}
	h.Measured = tuning.Size(is)
	if is >= unlimited {
		h.Measured = "not limited"
	}
	if l.NoMemory != "" {
		if is >= unlimited {
			return h.Change("set a limit; which one cannot be told: " + l.NoMemory)
		}
		return h.Unknown(l.NoMemory)
	}
	h.Measured += ", the host has " + tuning.Size(l.Memory)
	if is > 0.9*l.Memory || is < 0.5*l.Memory {
		return h.Change("max server memory (MB) = " + strconv.Itoa(int(0.75*l.Memory/tuning.MB)))
	}
	return h.Fits()
}

// maxDOP: how many NUMA nodes a host has no agent tells. Up to 8 CPUs the documentation
// says the same of one node and of several, but for how many CPUs a node has.
func maxDOP(l tuning.Load) tuning.Hint {
	h := tuning.Against("max degree of parallelism", "at most the logical CPUs of a NUMA node; 8 of one node that has more", msPage("configure-the-max-degree-of-parallelism-server-configuration-option"))
	is, ok := l.Number("max degree of parallelism")
	if !ok {
		return h.Untold(l, "max degree of parallelism")
	}
	h.Measured = strconv.Itoa(int(is))
	if is == 0 {
		h.Measured = "0, all CPUs"
	}
	if l.NoCPUs != "" {
		return h.Unknown(l.NoCPUs)
	}
	h.Measured += ", the host has " + strconv.Itoa(l.CPUs) + " CPUs"
	switch {
	case l.CPUs > 8 && (is == 0 || is > 16):
		return h.Change("max degree of parallelism = 8 on one NUMA node; of several, half of a node's CPUs and at most 16")
	case l.CPUs <= 8 && (is == 0 || is > float64(l.CPUs)):
		return h.Change("max degree of parallelism = " + strconv.Itoa(l.CPUs) + ", fewer where the host has several NUMA nodes")
	case is > 8:
		return h.Unknown("above 8 it depends on the NUMA nodes, of which no agent tells")
	}
	return h.Fits()
}

// costThreshold has no value that the documentation recommends: it is worth a look where
// the CPUs are what is short.
func costThreshold(l tuning.Load) tuning.Hint {
	h := tuning.Against("cost threshold for parallelism", "the default, 5, and how busy the CPUs were", msPage("configure-the-cost-threshold-for-parallelism-server-configuration-option"))
	is, ok := l.Number("cost threshold for parallelism")
	if !ok {
		return h.Untold(l, "cost threshold for parallelism")
	}
	h.Measured = strconv.Itoa(int(is))
	if why := l.CPUUse.Thin; why != "" {
		return h.Unknown(why)
	}
	busy := l.CPUUse
	h.Measured += "; CPU above 80% in " + busy.BusyHours
	if is <= 5 && 20*busy.Busy >= busy.Measured {
		return h.Change("raise it in steps and look at the parallel plans that are left; no value is given for all")
	}
	return h.Fits()
}
