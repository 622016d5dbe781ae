package dictionary

import (
	"testing"
	"time"

	"github.com/google/uuid"
)

// TestAMemoryHasBounds: entries beyond its limit are dropped, and entries older than a day are
// not used.
func TestAMemoryHasBounds(t *testing.T) {
	t.Parallel()
	m := memory{series: make(map[int64]remembered)}
	now := time.Now()
	of := func(series int64, n int) (all []entry) {
		for hash := range int64(n) {
			all = append(all, entry{sighting: sighting{Series: series, Hash: hash, First: now, Last: now}})
		}
		return all
	}
	m.add(append(of(1, 3), of(2, 2)...))
	if m.size != 5 || len(m.known(1, now, now)) != 3 || len(m.known(2, now, now)) != 2 {
		t.Errorf("remembers %+v", m.series)
	}
	if m.known(1, now, now.Add(rememberedFor-time.Hour)) == nil || m.known(1, now, now.Add(rememberedFor)) != nil {
		t.Errorf("what it remembers is not believed for %s, or longer", rememberedFor)
	}
	m.series[3] = remembered{first: now, hour: now, hashes: make([]int64, mostRemembered)}
	m.size += mostRemembered
	m.add(of(1, 4))
	if m.size != 0 || m.known(1, now, now) != nil {
		t.Errorf("remembers %d statements, more than %d", m.size, mostRemembered)
	}
}

// TestRefreshedNamesCountOnce in the memory of names: a fleet sees the same ones each hour.
func TestRefreshedNamesCountOnce(t *testing.T) {
	t.Parallel()
	var n names
	of := NotedNames{uuid.UUID{1}, []name{{Hash: 1, Seen: time.Now()}, {Hash: 2, Seen: time.Now()}}}
	for range 3 {
		n.add(of)
	}
	n.add(NotedNames{uuid.UUID{2}, of.names})
	if n.size != 4 {
		t.Errorf("%d names are known, want 4", n.size)
	}
	if n.forget(uuid.UUID{1}); n.size != 2 {
		t.Errorf("%d names are known after two were forgotten, want 2", n.size)
	}
}
