package forecast

import (
	"math"
	"slices"
	"time"
)

// Method names how growth is estimated.
const Method = "Theil–Sen"

// Confidence is the share of forecasts whose date lies between Soonest and Latest.
const Confidence = 0.9

const (
	// LeastDays is how many days a history has to have.
	LeastDays = 7
	// Horizon is how far ahead a date is stated.
	Horizon = 730
	// weekly is from how many days on only days that are whole weeks apart are compared.
	weekly = 28
	// widest is how many times as far away as Soonest Latest may be.
	widest = 6
	// stale is how old the newest value may be.
	stale = 48 * time.Hour

	confident = 1.645 // standard deviations: 90 % lie between both bounds
	beyond    = 3.09  // one in a thousand lies above
)

// Reason is why there is no date.
type Reason string

// The reasons.
const (
	NotMeasured Reason = "notMeasured" // there is no value
	NoLimit     Reason = "noLimit"     // nothing says how much there may be
	Stale       Reason = "stale"       // the newest value is older than two days
	TooShort    Reason = "tooShort"    // less than seven days, or more than half of the days are missing
	SawTooth    Reason = "sawTooth"    // it rises and falls
	Step        Reason = "step"        // it jumped, and fewer than seven days have passed since
	NotGrowing  Reason = "notGrowing"  // it stays, or becomes less
	Noise       Reason = "noise"       // it varies more than it grows
	Far         Reason = "far"         // it is not full within the Horizon
)

// Reasons returns every reason.
func Reasons() []Reason {
	return []Reason{NotMeasured, NoLimit, Stale, TooShort, SawTooth, Step, NotGrowing, Noise, Far}
}

// Point is what was used at a time, of a size in the same unit. The size of a volume is what is used and
// what is available, and not what is reserved.
type Point struct {
	At         time.Time
	Used, Size float64
}

// Forecast is when something is full.
type Forecast struct {
	Reason Reason // empty: there is a date
	// Days are those until it is full, from now; between Soonest and Latest with the Confidence.
	Days, Soonest, Latest float64
	PerDay                float64 // growth; only if Grows
	Grows                 bool    // PerDay is known: of a history that is long enough and does not jump
	Past                  float64 // days between the first and the last value that count
	Level                 float64 // the newest value
}

// Full says that it is full already.
func (f Forecast) Full() bool { return f.Reason == "" && f.Days == 0 }

// Of forecasts from a history, oldest first, to when its newest size is used up.
func Of(history []Point, now time.Time) Forecast {
	if len(history) == 0 {
		return Forecast{Reason: NotMeasured}
	}
	last := history[len(history)-1]
	f := Forecast{Level: last.Used, Past: last.At.Sub(history[0].At).Hours() / 24}
	switch {
	case now.Sub(last.At) > stale:
		f.Reason = Stale
		return f
	case last.Size > 0 && last.Used >= last.Size:
		return f
	}
	days, jumped := afterJump(byDay(history))
	if jumped == SawTooth {
		f.Reason = SawTooth
		return f
	}
	n := len(days)
	span := days[n-1].at - days[0].at
	if f.Past = min(f.Past, span+1); n < LeastDays || f.Past < LeastDays-0.5 || 2*float64(n) < span+1 {
		if f.Reason = TooShort; jumped != "" {
			f.Reason = jumped
		}
		return f
	}
	f.Grows = true
	f.date(days, last, now)
	return f
}

// date estimates the growth, and states a date if it is beyond doubt.
func (f *Forecast) date(days []day, last Point, now time.Time) {
	g := grow(days)
	f.PerDay = g.slope
	span := days[len(days)-1].at - days[0].at
	tiny := math.Max(last.Size, last.Used) * 5e-5 // a day
	switch {
	case last.Size <= 0:
		f.Reason = NoLimit
	case g.slope < tiny && (g.high <= 0 || g.high < 10*tiny || g.slope <= 0):
		f.Reason = NotGrowing
	case recent(days) < g.slope/4:
		f.Reason = NotGrowing
	case g.z < beyond || g.slope*span < 3*g.spread:
		f.Reason = Noise
	}
	if f.Reason != "" {
		return
	}
	// A median counts as the middle of its day, and now is later.
	since := float64(now.Unix())/86400 - (days[len(days)-1].at + 0.5)
	room := last.Size - g.level
	f.Days = max(room/g.slope-since, 0)
	f.Soonest = max((room-g.above)/g.high-since-1, 0)
	f.Latest = math.Inf(1)
	if g.low > 0 {
		f.Latest = max((room-g.below)/g.low-since+1, f.Days)
	}
	switch {
	case f.Days > Horizon:
		f.Reason = Far
	case f.Latest > widest*max(f.Soonest, 2):
		f.Reason = Noise
	default:
		return
	}
	f.Days, f.Soonest, f.Latest = 0, 0, 0
}

// day is the median of a UTC day: days since 1970, and what was used.
type day struct{ at, used float64 }

// byDay are the medians of days. What counts as used is as seen from the newest size if the size changes
// again and again, as with quotas and pools that several volumes share: what is available decides there.
func byDay(history []Point) (days []day) {
	size := history[len(history)-1].Size
	changes := 0
	for i := 1; i < len(history); i++ {
		if was, is := history[i-1].Size, history[i].Size; math.Abs(is-was) > 0.002*was {
			changes++
		}
	}
	var values []float64
	for i, p := range history {
		used := p.Used
		if changes > 2 {
			used = size - (p.Size - p.Used)
		}
		values = append(values, used)
		at := math.Floor(float64(p.At.Unix()) / 86400)
		if i == len(history)-1 || math.Floor(float64(history[i+1].At.Unix())/86400) != at {
			days = append(days, day{at, median(values)})
			values = values[:0]
		}
	}
	return days
}

// afterJump are the days since the last jump. The Reason is Step if there was one, and SawTooth if it
// fell more than once.
func afterJump(days []day) ([]day, Reason) {
	if len(days) < 3 {
		return days, ""
	}
	steps := make([]float64, 0, len(days)-1)
	lowest, highest := days[0].used, days[0].used
	for i := 1; i < len(days); i++ {
		steps = append(steps, (days[i].used-days[i-1].used)/(days[i].at-days[i-1].at))
		lowest, highest = min(lowest, days[i].used), max(highest, days[i].used)
	}
	middle := median(slices.Clone(steps))
	off := make([]float64, len(steps))
	for i, s := range steps {
		off[i] = math.Abs(s - middle)
	}
	large := max((highest-lowest)/5, 9*median(off), math.Abs(middle)*3)
	from, falls := 0, 0
	for i, s := range steps {
		if by := s - middle; math.Abs(by) > large {
			if by < 0 && from != i { // one clean-up may lie between two medians
				falls++
			}
			from = i + 1
		}
	}
	switch {
	case falls > 1:
		return days, SawTooth
	case from > 0:
		return days[from:], Step
	}
	return days, ""
}

// growth is what is known of how something grows.
type growth struct {
	slope, low, high float64 // a day, with its bounds
	z                float64 // how far Kendall's S is from nothing, in standard deviations
	level            float64 // on the last day
	below, above     float64 // bounds of the level, from it
	spread           float64 // of the residuals: a standard deviation, robust
}

func grow(days []day) (g growth) {
	n := len(days)
	apart := 1.0
	if days[n-1].at-days[0].at >= weekly {
		apart = 7
	}
	var slopes []float64
	s := 0.0
	for i := range days {
		for j := i + 1; j < n; j++ {
			if between := days[j].at - days[i].at; math.Mod(between, apart) == 0 {
				slope := (days[j].used - days[i].used) / between
				slopes = append(slopes, slope)
				switch {
				case slope > 0:
					s++
				case slope < 0:
					s--
				}
			}
		}
	}
	slices.Sort(slopes)
	g.slope = middle(slopes)
	residuals := make([]float64, n)
	for i, d := range days {
		residuals[i] = d.used - g.slope*(d.at-days[n-1].at)
	}
	sigma := math.Sqrt(variance(days, apart) * inflation(residuals, math.Abs(g.slope)))
	if sigma > 0 {
		g.z = s / sigma
	}
	pairs := float64(len(slopes))
	rank := func(at float64) float64 { return slopes[int(min(max(at, 0), pairs-1))] }
	g.low, g.high = rank(math.Floor((pairs-confident*sigma)/2)), rank(math.Ceil((pairs+confident*sigma)/2))
	latest := slices.Clone(residuals[max(n-14, 0):])
	g.level = median(latest)
	sorted := slices.Sorted(slices.Values(residuals))
	all := middle(sorted)
	drift := math.Abs(g.level - all)
	g.above = quantile(sorted, 0.98) - all + drift
	g.below = quantile(sorted, 0.02) - all - drift
	for i := range residuals {
		residuals[i] = math.Abs(residuals[i] - all)
	}
	g.spread = 1.4826 * median(residuals)
	return g
}

// variance is that of Kendall's S for days that are compared only with those that are a multiple of
// some days apart.
func variance(days []day, apart float64) (v float64) {
	counts := map[float64]float64{}
	for _, d := range days {
		counts[math.Mod(d.at, apart)]++
	}
	for _, n := range counts {
		v += n * (n - 1) * (2*n + 5) / 18
	}
	return v
}

// inflation is by how much the variance is larger because a day resembles the one before. Residuals
// of less than a millionth of a day's growth are errors of rounding.
func inflation(residuals []float64, slope float64) float64 {
	mean := 0.0
	for _, r := range residuals {
		mean += r / float64(len(residuals))
	}
	var with, own float64
	for i, r := range residuals {
		own += (r - mean) * (r - mean)
		if i > 0 {
			with += (r - mean) * (residuals[i-1] - mean)
		}
	}
	if own <= 1e-12*slope*slope*float64(len(residuals)) {
		return 1
	}
	r := min(max(with/own, 0), 0.9)
	return (1 + r) / (1 - r)
}

// recent is the growth in the last third of the days.
func recent(days []day) float64 {
	tail := days[len(days)-max(len(days)/3, 4):]
	var slopes []float64
	for i := range tail {
		for j := i + 1; j < len(tail); j++ {
			slopes = append(slopes, (tail[j].used-tail[i].used)/(tail[j].at-tail[i].at))
		}
	}
	return median(slopes)
}

// median sorts the values.
func median(values []float64) float64 {
	slices.Sort(values)
	return middle(values)
}

func middle(sorted []float64) float64 {
	n := len(sorted)
	return (sorted[(n-1)/2] + sorted[n/2]) / 2
}

func quantile(sorted []float64, q float64) float64 {
	return sorted[int(math.Round(q*float64(len(sorted)-1)))]
}
