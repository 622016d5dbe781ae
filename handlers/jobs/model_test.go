package jobs_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/handlers/jobs"
	"muster/internal/concurrency/fairslots"
)

// TestAnySequenceOfClaimsIsFair: three processes claim and finish the jobs of five
// organizations in any order. Then
//
//   - no organization holds more than half of the slots of any process, so not of all;
//   - a process with a free slot claims a job if an organization below its half has one;
//   - that organization holds the fewest slots of the process, and of those with as few its
//     last turn there is longest ago;
//   - its job is its oldest.
func TestAnySequenceOfClaimsIsFair(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	const processes, organizations = 3, 5
	rapid.Check(t, func(t *rapid.T) {
		m := newModel(s, processes, organizations, rapid.IntRange(1, 3).Draw(t, "each"))
		for range rapid.IntRange(10, 25).Draw(t, "steps") {
			process := rapid.IntRange(0, processes-1).Draw(t, "process")
			switch rapid.IntRange(0, 4).Draw(t, "what") {
			case 0:
				m.insert(rapid.IntRange(0, organizations-1).Draw(t, "organization"), rapid.IntRange(1, 6).Draw(t, "jobs"))
			case 1:
				m.finish(process, rapid.IntRange(0, 100).Draw(t, "which"))
			default:
				if wrong := m.claim(process); wrong != "" {
					t.Fatal(wrong)
				}
			}
		}
	})
}

type waiting struct {
	subject uuid.UUID
	number  int // in the order of insertion
}

type held struct {
	organization int
	job          jobs.Claimed
}

type model struct {
	*scene
	organizations []uuid.UUID
	each          int
	waiting       [][]waiting // the oldest first
	processes     []*process
	inserted      int
}

type process struct {
	slots *fairslots.Slots
	held  []held
	turns []int // of each organization, its last
	taken int
}

func (p *process) slotsOf(organization int) (n int) {
	for _, h := range p.held {
		if h.organization == organization {
			n++
		}
	}
	return n
}

func newModel(s *scene, processes, organizations, each int) *model {
	s.exec(`DELETE FROM jobs`)
	m := &model{scene: s, each: each, waiting: make([][]waiting, organizations)}
	for range organizations {
		m.organizations = append(m.organizations, uuid.New())
	}
	for range processes {
		m.processes = append(m.processes, &process{slots: fairslots.NewSlots(each), turns: make([]int, organizations)})
	}
	return m
}

func (m *model) insert(organization, n int) {
	for range n {
		subject := uuid.New()
		m.inserted++
		m.exec(`INSERT INTO jobs (id, organization_id, kind, subject, due_at) VALUES ($1, $2, 'build', $3, now() - interval '1 hour' + make_interval(secs => $4))`,
			uuid.New(), m.organizations[organization], subject, m.inserted)
		m.waiting[organization] = append(m.waiting[organization], waiting{subject, m.inserted})
	}
}

func (m *model) finish(number, which int) {
	p := m.processes[number]
	if len(p.held) == 0 {
		return
	}
	i := which % len(p.held)
	if err := m.queue.Finish(m.t.Context(), m.db, p.held[i].job); err != nil {
		m.t.Fatal(err)
	}
	p.slots.Free(p.held[i].job.OrganizationID)
	p.held = slices.Delete(p.held, i, i+1)
}

// claim has a process claim a job, and says what is unfair.
func (m *model) claim(number int) (wrong string) {
	p := m.processes[number]
	if len(p.held) == p.slots.All() {
		return ""
	}
	expected := -1
	for o := range m.organizations {
		if len(m.waiting[o]) == 0 || p.slotsOf(o) >= m.each {
			continue
		}
		if expected < 0 || slices.Compare(m.rank(p, o), m.rank(p, expected)) < 0 {
			expected = o
		}
	}
	c, ok, err := m.queue.ClaimInTurn(m.t.Context(), 0, p.slots)
	if err != nil {
		m.t.Fatal(err)
	}
	if ok != (expected >= 0) {
		return fmt.Sprintf("claimed: %t, and the next organization is %d", ok, expected)
	}
	if !ok {
		return ""
	}
	got := slices.Index(m.organizations, c.OrganizationID)
	if got != expected || c.Subject != m.waiting[got][0].subject {
		return fmt.Sprintf("claimed %s of organization %d, not the oldest of %d", c.Subject, got, expected)
	}
	m.waiting[got] = m.waiting[got][1:]
	p.slots.Take(c.OrganizationID)
	p.taken++
	p.turns[got] = p.taken
	p.held = append(p.held, held{got, c})
	if n := p.slotsOf(got); 2*n > p.slots.All() {
		return fmt.Sprintf("organization %d holds %d of %d slots", got, n, p.slots.All())
	}
	return ""
}

// rank orders organizations by who comes first. Those that had no turn in this process are
// equal, and the oldest job decides.
func (m *model) rank(p *process, organization int) []int {
	return []int{p.slotsOf(organization), p.turns[organization], m.waiting[organization][0].number}
}
