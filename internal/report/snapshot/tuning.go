package snapshot

import "time"

// Tuning is what a scorecard holds the settings of its instance against: the machine, and
// how many sessions there are and wait.
type Tuning struct {
	Settings []Setting `json:"settings"` // of those that hints are about, what the last assessment that reached the server found; sorted by name
	Machines []Machine `json:"machines"` // the instance's hosts, as agents told of them in the last three days; sorted by name
	// Open are the sessions at SampledAt; nil: they are not sampled. Earlier ones are not
	// stored.
	Open      *int64     `json:"open"`
	SampledAt *time.Time `json:"sampledAt"`
	Waits     *Waits     `json:"waits"` // nil: nobody sampled sessions in the window
}

// Setting is one setting of a server; the unit may be PostgreSQL's, "8kB".
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Unit  string `json:"unit"`
}

// Machine is a host's size.
type Machine struct {
	Host        string    `json:"host"`
	At          time.Time `json:"at"`          // of the newest sample
	Instances   int       `json:"instances"`   // that are known to run on it; 0: its samples name none
	MemoryBytes *int64    `json:"memoryBytes"` // nil: its agent does not tell
	CPUs        *int      `json:"cpus"`        // logical ones; nil: its agent does not tell of each
}

// Waits are how many sessions of the instance waited at once, the mean of the hours of the
// window with a sample.
type Waits struct {
	Hours   int     `json:"hours"` // with a sample
	Of      int     `json:"of"`    // of the window
	IO      float64 `json:"io"`
	Locks   float64 `json:"locks"`
	Latches float64 `json:"latches"` // lightweight locks
	// Partial says that samples are, some at least, of a part of the sessions only.
	Partial bool `json:"partial,omitempty"`
}
