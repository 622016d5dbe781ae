package hostmetrics

import (
	"muster/internal/intake"
	"muster/internal/measurements"
)

// memoryPart is one of the sizes that agents send about a host's memory.
type memoryPart int

const (
	memoryLimit     memoryPart = iota // all of it
	memoryAvailable                   // as the kernel estimates it
	stateTotal                        // these are the states of system.memory.usage
	stateAvailable
	stateUsed
	stateFree
	stateBuffered
	stateCached
	stateInactive
	memoryParts
)

// memoryStates are those that count. The others, like slab_reclaimable and shared, are in
// one of these already.
var memoryStates = map[string]memoryPart{
	"total": stateTotal, "available": stateAvailable, "used": stateUsed, "free": stateFree,
	"buffered": stateBuffered, "buffers": stateBuffered, "cached": stateCached, "inactive": stateInactive,
}

func (s *Series) readMemory(l *Labels) intake.Reason {
	switch s.metric {
	case MemoryTotal:
		s.part = memoryLimit
	case MemoryAvailable:
		s.part = memoryAvailable
	default:
		if len(l.State) == 0 {
			return intake.Incomplete
		}
		part, counts := memoryStates[string(l.State)]
		if !counts {
			return intake.NotUsed
		}
		s.part = part
	}
	return ""
}

// memory is what was told of it.
type memory struct {
	points int
	told   [memoryParts]bool
	bytes  [memoryParts]float64
}

func (s *scrape) addMemory(part memoryPart, bytes float64) {
	if s.memory == nil {
		s.memory = &memory{}
	}
	s.memory.points++
	if !s.memory.told[part] {
		s.memory.told[part], s.memory.bytes[part] = true, bytes
	}
}

// memoryOf returns the sizes, those that are not known as -1; nil where none is.
func (m *Message) memoryOf(s *scrape) *measurements.MemoryBytes {
	if s.memory == nil {
		return nil
	}
	of := func(parts ...memoryPart) float64 {
		for _, p := range parts {
			if s.memory.told[p] {
				return s.memory.bytes[p]
			}
		}
		return -1
	}
	b := measurements.MemoryBytes{Total: of(memoryLimit, stateTotal), Available: of(memoryAvailable, stateAvailable), Used: of(stateUsed)}
	if b.Total < 0 {
		b.Total = s.memory.sum()
	}
	if b.Total < 0 && b.Available < 0 && b.Used < 0 {
		m.unused(s, intake.Incomplete, s.memory.points)
		return nil
	}
	return &b
}

// sum is the total that the states make; -1 where one is missing. Linux has four of
// them, others have used and free, or inactive beside them, or available instead.
func (m *memory) sum() float64 {
	if m.told[stateUsed] && m.told[stateAvailable] {
		return m.bytes[stateUsed] + m.bytes[stateAvailable]
	}
	if !m.told[stateUsed] || !m.told[stateFree] || m.told[stateBuffered] != m.told[stateCached] {
		return -1
	}
	return m.bytes[stateUsed] + m.bytes[stateFree] + m.bytes[stateBuffered] + m.bytes[stateCached] + m.bytes[stateInactive]
}
