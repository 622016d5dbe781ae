package snapshot

import "time"

// Utilization is how busy the hosts of a scorecard's instance were, hour by hour: all
// hours that its window touches, as the program's tile has them. A scorecard of a
// database has its instance's.
type Utilization struct {
	Start time.Time `json:"start"` // of the first hour
	Hosts int       `json:"hosts"` // that have a sample in these hours
	// An entry an hour, nil where nobody measured: the mean of CPU and of memory, and
	// of the disk the highest that the fullest volume reached, in percent.
	CPUPercent    []*float64 `json:"cpuPercent"`
	MemoryPercent []*float64 `json:"memoryPercent"`
	DiskPercent   []*float64 `json:"diskPercent"`
	// How many minutes of these hours have a sample; nil where minutes are no longer
	// kept, and in documents of before they were counted.
	CPUMinutes    *int `json:"cpuMinutes,omitempty"`
	MemoryMinutes *int `json:"memoryMinutes,omitempty"`
	DiskMinutes   *int `json:"diskMinutes,omitempty"`
}
