package snapshot

import (
	"bytes"
	"cmp"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
)

// ScoreAtStart is what the last assessment of the instance came to that was recorded
// before the window, by the formula of analysis.HealthScore.
type ScoreAtStart struct {
	Score      int       `json:"score"` // 0-100
	Grade      string    `json:"grade"`
	AssessedAt time.Time `json:"assessedAt"`
}

// ScoreByDay is the score on each UTC day that the window touches, up to the day of the
// document: the result of the last assessment of the day, as the instance's history in the
// program has it.
type ScoreByDay struct {
	Start  time.Time `json:"start"`  // of the first day
	Scores []*int    `json:"scores"` // an entry a day; nil: none is kept
}

// MaxAlerts is how many alerts a document lists.
const MaxAlerts = 10_000

// AlertHistory is every alert of a scorecard's instance that touches its window:
// that was open at some time in it, or fired. Where the scorecard is scoped to a
// database, it is those of the database and the instance-wide ones.
type AlertHistory struct {
	// Listed are at most MaxAlerts, sorted: unmuted before muted ones, the most severe first,
	// and among equals the newest first. If there are more, it has the first of them in this
	// order.
	Listed []Alert `json:"listed"`
	Total  int     `json:"total"` // those, and those that are not listed
}

// Alert is one alert as it stood when the inputs were gathered, which may be after
// the window.
type Alert struct {
	ID               uuid.UUID  `json:"id"`
	Title            string     `json:"title"`
	Severity         string     `json:"severity"` // critical, warning, info
	State            string     `json:"state"`
	Muted            bool       `json:"muted"`
	Rule             string     `json:"rule"`     // what it is called; empty: not known
	Database         string     `json:"database"` // empty: instance-wide
	CreatedAt        time.Time  `json:"createdAt"`
	FirstTriggeredAt time.Time  `json:"firstTriggeredAt"`
	LastTriggeredAt  time.Time  `json:"lastTriggeredAt"`
	ResolvedAt       *time.Time `json:"resolvedAt"` // exactly where it is closed
	Occurrences      int        `json:"occurrences"`
}

// Compare orders alerts as AlertHistory lists them.
func (a Alert) Compare(b Alert) int {
	return cmp.Or(
		cmp.Compare(muted(a), muted(b)),
		cmp.Compare(severity(b), severity(a)),
		b.CreatedAt.Compare(a.CreatedAt),
		bytes.Compare(a.ID[:], b.ID[:]),
	)
}

func muted(a Alert) int {
	if a.Muted {
		return 1
	}
	return 0
}

// severity is how bad an alert is; -1 where this program does not know the word.
func severity(a Alert) int { return slices.Index(alert.Severities(), alert.Severity(a.Severity)) }

// Utilization is how busy the hosts of a scorecard's instance were, hour by hour: all
// hours that its window touches, as the program's tile has them. A scorecard of a
// database has its instance's.
type Utilization struct {
	Start time.Time `json:"start"` // of the first hour
	Hosts int       `json:"hosts"` // that have a sample in these hours
	// One entry for each hour, nil without a sample: the mean of CPU and of memory, and for the
	// disk the highest value of the fullest volume, in percent.
	CPUPercent    []*float64 `json:"cpuPercent"`
	MemoryPercent []*float64 `json:"memoryPercent"`
	DiskPercent   []*float64 `json:"diskPercent"`
	// The number of minutes of these hours with a sample; nil if minutes are no longer stored,
	// and in documents from before they were counted.
	CPUMinutes    *int `json:"cpuMinutes,omitempty"`
	MemoryMinutes *int `json:"memoryMinutes,omitempty"`
	DiskMinutes   *int `json:"diskMinutes,omitempty"`
}
