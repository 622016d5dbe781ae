package window

import (
	"math"
	"slices"
	"time"

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

// FitDays is how many days of a volume's past it takes to tell its future.
const FitDays = 7

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

// leastR2 is how much of the variance a line has to explain for a forecast: of a saw-tooth it explains less.
const leastR2 = 0.5

// Fits says whether the line explains enough of what was measured, or there is nothing to explain.
func (f Forecast) Fits() bool { return f.R2 >= leastR2 || math.Abs(f.PerDay) < steady }

// steady is a change in points a day below which a volume neither fills nor empties.
const steady = 0.005

// Fills says whether the volume fills, and not only by the last decimal place.
func (f Forecast) Fills() bool { return f.PerDay >= steady }

// FullWithin is within how many days a volume is full soon.
const FullWithin = 7

// Soon says whether the forecast is that the volume is full soon.
func (f Forecast) Soon() bool { return f.Known && f.Days <= FullWithin }

// Forecast is when the fullest volume is full, if it goes on as in the window: from the last measured level by the
// slope of the straight line with the least squares through its hours.
type Forecast struct {
	Known  bool      // false: less than 7 days lie between its first hour and its last, or more than half of them are missing
	Past   float64   // days between the two
	Until  time.Time // the end of its last hour
	PerDay float64   // percent that it fills a day; negative: it empties
	Level  float64   // of its last hour, as measured, percent
	R2     float64   // the share of the variance that the line explains; 1 of a volume that does not change
	Days   float64   // from then until it is full; infinite where it does not fill
}

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
	s.Full = forecast(u.Start, u.DiskPercent)
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

// forecast fits a line to the hours that have a value.
func forecast(start time.Time, values []*float64) Forecast {
	first, last, n := -1, -1, 0.0
	var sumX, sumY float64
	for i, v := range values {
		if v == nil {
			continue
		}
		if first < 0 {
			first = i
		}
		last = i
		n++
		sumX += float64(i)
		sumY += *v
	}
	if first < 0 {
		return Forecast{}
	}
	hours := last - first + 1
	f := Forecast{Past: float64(hours) / 24, Until: start.Add(time.Duration(last+1) * time.Hour), Level: *values[last]}
	if hours < FitDays*24 || 2*int(n) < hours {
		return f
	}
	meanX, meanY := sumX/n, sumY/n
	var xx, xy, yy float64
	for i, v := range values {
		if v != nil {
			xx += (float64(i) - meanX) * (float64(i) - meanX)
			xy += (float64(i) - meanX) * (*v - meanY)
			yy += (*v - meanY) * (*v - meanY)
		}
	}
	slope := xy / xx
	f.Known, f.PerDay, f.R2 = true, 24*slope, 1
	if yy > 0 {
		f.R2 = xy * xy / (xx * yy)
	}
	f.Days = math.Inf(1)
	if f.PerDay > 0 && f.Fits() {
		f.Days = max(0, (100-f.Level)/f.PerDay)
	}
	return f
}
