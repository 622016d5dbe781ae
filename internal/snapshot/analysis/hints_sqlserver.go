package analysis

import "strconv"

// unlimited is what max server memory is where nobody has set it.
const unlimited = 2147483647 * mb

func maxServerMemory(l load) Hint {
	h := against("max server memory (MB)", "75 % of the host's memory that nothing else takes; “change” below 50 % and above 90 %", msPage("server-memory-server-configuration-options"))
	is, ok := l.bytes("max server memory (mb)", "MB")
	if !ok {
		return h.untold(l, "max server memory (mb)")
	}
	h.Measured = size(is)
	if is >= unlimited {
		h.Measured = "not limited"
	}
	if l.noMemory != "" {
		if is >= unlimited {
			return h.change("set a limit; which one cannot be told: " + l.noMemory)
		}
		return h.unknown(l.noMemory)
	}
	h.Measured += ", the host has " + size(l.memory)
	if is > 0.9*l.memory || is < 0.5*l.memory {
		return h.change("max server memory (MB) = " + strconv.Itoa(int(0.75*l.memory/mb)))
	}
	return h.fits()
}

// maxDOP: how many NUMA nodes a host has no agent tells. Up to 8 CPUs the documentation
// says the same of one node and of several, but for how many CPUs a node has.
func maxDOP(l load) Hint {
	h := against("max degree of parallelism", "at most the logical CPUs of a NUMA node; 8 of one node that has more", msPage("configure-the-max-degree-of-parallelism-server-configuration-option"))
	is, ok := l.number("max degree of parallelism")
	if !ok {
		return h.untold(l, "max degree of parallelism")
	}
	h.Measured = strconv.Itoa(int(is))
	if is == 0 {
		h.Measured = "0, all CPUs"
	}
	if l.noCPUs != "" {
		return h.unknown(l.noCPUs)
	}
	h.Measured += ", the host has " + strconv.Itoa(l.cpus) + " CPUs"
	switch {
	case l.cpus > 8 && (is == 0 || is > 16):
		return h.change("max degree of parallelism = 8 on one NUMA node; of several, half of a node's CPUs and at most 16")
	case l.cpus <= 8 && (is == 0 || is > float64(l.cpus)):
		return h.change("max degree of parallelism = " + strconv.Itoa(l.cpus) + ", fewer where the host has several NUMA nodes")
	case is > 8:
		return h.unknown("above 8 it depends on the NUMA nodes, of which no agent tells")
	}
	return h.fits()
}

// costThreshold has no value that the documentation recommends: it is worth a look where
// the CPUs are what is short.
func costThreshold(l load) Hint {
	h := against("cost threshold for parallelism", "the default, 5, and how busy the CPUs were", msPage("configure-the-cost-threshold-for-parallelism-server-configuration-option"))
	is, ok := l.number("cost threshold for parallelism")
	if !ok {
		return h.untold(l, "cost threshold for parallelism")
	}
	h.Measured = strconv.Itoa(int(is))
	if why := l.thin(CPU, "CPU"); why != "" {
		return h.unknown(why)
	}
	busy := l.use.Of[CPU]
	h.Measured += "; CPU above 80 % in " + of(busy.Busy, busy.Measured, "hour", "hours")
	if is <= 5 && 20*busy.Busy >= busy.Measured {
		return h.change("raise it in steps and look at the parallel plans that are left; no value is given for all")
	}
	return h.fits()
}
