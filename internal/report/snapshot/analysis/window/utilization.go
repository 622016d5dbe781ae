package window

import (
	"slices"
	"time"

	"muster/internal/measurements/forecast"
	"muster/internal/report/snapshot"
)

// The three resources, the places in UtilizationSummary.
const (
	CPU = iota
	Memory
	Disk
	resources
)

// busyAbove is the percentage above which an hour is counted.
const busyAbove = 80

// fewHours is how many measured hours it takes for a share of them to say something:
// below it 1 hour of 1 would be all of the time.
const fewHours = 24

// Few says whether too few hours were measured for a share of them.
func (r Resource) Few() bool { return r.Measured < fewHours }

// UtilizationSummary is what a scorecard says about the hosts of its instance.
type UtilizationSummary struct {
	Start time.Time // of the first hour
	Hours int
	Hosts int // measured
	Of    [resources]Resource
	Full  Forecast
}

// Resource is one line of a summary.
type Resource struct {
	Values              []*float64 // percent, an entry an hour; nil: not measured
	Measured            int        // hours with a value; the figures below are of those
	Minutes             *int       // with a sample; nil: not known
	Min, Mean, P95, Max float64
	Busy                int // hours above 80 %
}

// FullWithin is within how many days a volume is full soon.
const FullWithin = 7

// Forecast is when the fullest volume is full, if it grows on as in the window: from the end of the last hour that
// was measured.
type Forecast struct {
	forecast.Forecast
	Until time.Time // the end of that hour; zero: no hour was measured
}

// Soon says whether the forecast is that the volume is full soon.
func (f Forecast) Soon() bool { return !f.Until.IsZero() && f.Reason == "" && f.Days <= FullWithin }

// Utilization sums up how busy the hosts of a scorecard's instance were; ok is false
// where the document has nothing about it.
func Utilization(doc snapshot.Document) (s UtilizationSummary, ok bool) {
	if doc.Utilization == nil {
		return UtilizationSummary{}, false
	}
	u := doc.Utilization
	s = UtilizationSummary{Start: u.Start, Hosts: u.Hosts}
	minutes := [resources]*int{u.CPUMinutes, u.MemoryMinutes, u.DiskMinutes}
	for i, values := range [resources][]*float64{u.CPUPercent, u.MemoryPercent, u.DiskPercent} {
		s.Of[i] = summarize(values)
		s.Of[i].Minutes = minutes[i]
		s.Hours = max(s.Hours, len(values))
	}
	s.Full = Fullest(u.Start, u.DiskPercent)
	return s, true
}

// summarize takes the 95th percentile by nearest rank: a value that was measured.
func summarize(values []*float64) Resource {
	r := Resource{Values: values}
	var measured []float64
	sum := 0.0
	for _, v := range values {
		if v == nil {
			continue
		}
		measured = append(measured, *v)
		sum += *v
		if *v > busyAbove {
			r.Busy++
		}
	}
	n := len(measured)
	if r.Measured = n; n == 0 {
		return r
	}
	slices.Sort(measured)
	r.Min, r.Mean, r.Max = measured[0], sum/float64(n), measured[n-1]
	r.P95 = measured[(95*n+99)/100-1]
	return r
}

// Fullest is the forecast of the hours that have a value.
func Fullest(start time.Time, values []*float64) Forecast {
	var history []forecast.Point
	var until time.Time
	for i, v := range values {
		if v != nil {
			at := start.Add(time.Duration(i) * time.Hour)
			history, until = append(history, forecast.Point{At: at, Used: *v, Size: 100}), at.Add(time.Hour)
		}
	}
	return Forecast{forecast.Of(history, until), until}
}
