package analysis

import "strconv"

// oracleSize is a parameter that holds a size; one that nobody told is 0.
func (l load) oracleSize(name string) (bytes float64, told bool) { return l.bytes(name, "B") }

// oracleMemory: what the instance may take must be there.
func oracleMemory(l load) Hint {
	h := against("memory_target, sga_target", "the host's memory", oraPage("21", "PGA_AGGREGATE_TARGET"))
	total, ok := l.oracleSize("memory_target")
	if ok && total > 0 {
		h.Measured = "memory_target " + size(total)
	} else {
		sga, known := l.oracleSize("sga_target")
		pga, alsoKnown := l.oracleSize("pga_aggregate_target")
		if !known || !alsoKnown {
			return h.untold(l)
		}
		if sga == 0 {
			h.Measured = "both 0"
			return h.unknown("the parts of the SGA are sized by hand, and no assessment tells them")
		}
		total = sga + pga
		h.Measured = "sga_target " + size(sga) + " + pga_aggregate_target " + size(pga)
	}
	if l.noMemory != "" {
		return h.unknown(l.noMemory)
	}
	h.Measured += ", " + percentOf(total, l.memory) + " of " + size(l.memory)
	if total >= l.memory {
		return h.change("less than the host has, with room for the system and the sessions’ processes; by how much is yours to choose")
	}
	return h.fits()
}

// pgaTarget is a fifth of the SGA where nobody sets it.
func pgaTarget(l load) Hint {
	h := against("pga_aggregate_target", "20 % of the SGA, the default", oraPage("21", "PGA_AGGREGATE_TARGET"))
	if total, ok := l.oracleSize("memory_target"); ok && total > 0 {
		h.Measured = "memory_target " + size(total)
		return h.fits() // Oracle divides it
	}
	sga, known := l.oracleSize("sga_target")
	pga, ok := l.oracleSize("pga_aggregate_target")
	switch {
	case !ok:
		return h.untold(l, "pga_aggregate_target")
	case !known || sga == 0:
		h.Measured = size(pga)
		return h.unknown("no assessment told how large the SGA is")
	}
	h.Measured = size(pga) + ", " + percentOf(pga, sga) + " of sga_target " + size(sga)
	if pga < 0.2*sga {
		return h.change("pga_aggregate_target = " + literal(0.2*sga, "G", "M") + " to start from; V$PGA_TARGET_ADVICE says whether more helps")
	}
	return h.fits()
}

// oracleSessions: fewer sessions than follow from processes are ignored.
func oracleSessions(l load) Hint {
	h := against("processes, sessions", "sessions of 1.5 × processes + 22, the default and the least; 80 % of it", oraPage("18", "SESSIONS"))
	most, ok := l.number("sessions")
	processes, known := l.number("processes")
	if !ok || most == 0 {
		return h.untold(l, "sessions")
	}
	if least := 1.5*processes + 22; known && most < least {
		h.Measured = "sessions " + itoa(int(most)) + ", processes " + itoa(int(processes))
		return h.change("sessions = " + strconv.Itoa(int(least)) + ": what is below is ignored")
	}
	return l.sessionsOf(h, most, "raise processes, from which sessions follow, with a restart; or share servers or pool connections")
}
