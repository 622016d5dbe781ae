package oracle

import (
	"strconv"

	"muster/internal/engine/tuning"
)

var hints = tuning.Hints{
	Settings: []string{"sga_target", "pga_aggregate_target", "memory_target", "processes", "sessions"},
	Judges:   []func(tuning.Load) tuning.Hint{oracleMemory, pgaTarget, oracleSessions},
}

func oraPage(release, name string) tuning.Page {
	return tuning.Page{
		Name:    "Oracle Database Reference " + release + "c, " + name,
		Address: "https://docs.oracle.com/en/database/oracle/oracle-database/" + release + "/refrn/" + name + ".html",
	}
}

// sizeOf is a parameter that holds a size; one that nobody told is 0.
func sizeOf(l tuning.Load, name string) (bytes float64, told bool) { return l.Bytes(name, "B") }

// oracleMemory: what the instance may take must be there.
func oracleMemory(l tuning.Load) tuning.Hint {
	h := tuning.Against("memory_target, sga_target", "the host's memory", oraPage("21", "PGA_AGGREGATE_TARGET"))
	total, ok := sizeOf(l, "memory_target")
	if ok && total > 0 {
		h.Measured = "memory_target " + tuning.Size(total)
	} else {
		sga, known := sizeOf(l, "sga_target")
		pga, alsoKnown := sizeOf(l, "pga_aggregate_target")
		if !known || !alsoKnown {
			return h.Untold(l)
		}
		if sga == 0 {
			h.Measured = "both 0"
			return h.Unknown("the parts of the SGA are sized by hand, and no assessment tells them")
		}
		total = sga + pga
		h.Measured = "sga_target " + tuning.Size(sga) + " + pga_aggregate_target " + tuning.Size(pga)
	}
	if l.NoMemory != "" {
		return h.Unknown(l.NoMemory)
	}
	h.Measured += ", " + tuning.PercentOf(total, l.Memory) + " of " + tuning.Size(l.Memory)
	if total >= l.Memory {
		return h.Change("less than the host has, with room for the system and the sessions’ processes; by how much is yours to choose")
	}
	return h.Fits()
}

// pgaTarget is a fifth of the SGA where nobody sets it.
func pgaTarget(l tuning.Load) tuning.Hint {
	h := tuning.Against("pga_aggregate_target", "20% of the SGA, the default", oraPage("21", "PGA_AGGREGATE_TARGET"))
	if total, ok := sizeOf(l, "memory_target"); ok && total > 0 {
		h.Measured = "memory_target " + tuning.Size(total)
		return h.Fits() // Oracle divides it
	}
	sga, known := sizeOf(l, "sga_target")
	pga, ok := sizeOf(l, "pga_aggregate_target")
	switch {
	case !ok:
		return h.Untold(l, "pga_aggregate_target")
	case !known || sga == 0:
		h.Measured = tuning.Size(pga)
		return h.Unknown("no assessment told how large the SGA is")
	}
	h.Measured = tuning.Size(pga) + ", " + tuning.PercentOf(pga, sga) + " of sga_target " + tuning.Size(sga)
	if pga < 0.2*sga {
		return h.Change("pga_aggregate_target = " + tuning.Literal(0.2*sga, "G", "M") + " to start from; V$PGA_TARGET_ADVICE says whether more helps")
	}
	return h.Fits()
}

// oracleSessions: fewer sessions than follow from processes are ignored.
func oracleSessions(l tuning.Load) tuning.Hint {
	h := tuning.Against("processes, sessions", "sessions of 1.5 × processes + 22, the default and the least; 80% of it", oraPage("18", "SESSIONS"))
	most, ok := l.Number("sessions")
	processes, known := l.Number("processes")
	if !ok || most == 0 {
		return h.Untold(l, "sessions")
	}
	if least := 1.5*processes + 22; known && most < least {
		h.Measured = "sessions " + tuning.Grouped(int(most)) + ", processes " + tuning.Grouped(int(processes))
		return h.Change("sessions = " + strconv.Itoa(int(least)) + ": what is below is ignored")
	}
	return l.SessionsOf(h, most, "raise processes, from which sessions follow, with a restart; or share servers or pool connections")
}
