package forecast_test

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"muster/internal/measurements/forecast"
)

var monday = time.Date(2026, 11, 2, 0, 0, 0, 0, time.UTC)

const size = 1000.0

// process is what a volume has in use on a day; a part of a day is its hours.
type process func(at float64) float64

// draws are histories of a kind: how many days are seen, and how it goes on.
type draws func(r *rand.Rand) (process, int)

// noisy adds noise that resembles the day before by share.
func noisy(r *rand.Rand, sd, share float64, of process) process {
	kept := make([]float64, 2400)
	for i := range kept {
		kept[i] = r.NormFloat64() * sd
		if i > 0 {
			kept[i] = share*kept[i-1] + math.Sqrt(1-share*share)*kept[i]
		}
	}
	return func(at float64) float64 { return of(at) + kept[int(at)%len(kept)] }
}

func between(r *rand.Rand, low, high float64) float64 { return low + (high-low)*r.Float64() }

// linear grows by 0.2 to 2 % of its size a day.
func linear(r *rand.Rand) (process, int) {
	level, rate, days := between(r, 100, 700), between(r, 2, 20), 7+r.IntN(53)
	return noisy(r, between(r, 0, rate/2), between(r, 0, 0.4), func(at float64) float64 { return level + rate*(at-float64(days)) }), days
}

// rough grows as linear does, under noise of up to three days' growth that lasts: the slope is what is in doubt.
func rough(r *rand.Rand) (process, int) {
	level, rate, days := between(r, 100, 500), between(r, 2, 8), 20+r.IntN(60)
	return noisy(r, between(r, rate, 3*rate), between(r, 0, 0.6), func(at float64) float64 { return level + rate*(at-float64(days)) }), days
}

// seasonal grows on working days, and has backups at night and more in the middle of the week.
func seasonal(r *rand.Rand) (process, int) {
	level, rate, days := between(r, 100, 700), between(r, 3, 15), 14+r.IntN(60)
	nights, weeks := between(r, 0, 80), between(r, 0, 3*rate)
	return noisy(r, rate/4, 0.2, func(at float64) float64 {
		week, weekday := math.Floor(at/7), math.Mod(at, 7)
		used := level + rate*(7*week+1.4*min(weekday, 5)-float64(days)) + weeks*math.Sin(2*math.Pi*weekday/7)
		if hour := math.Mod(at, 1) * 24; hour > 1 && hour < 5 {
			used += nights
		}
		return used
	}), days
}

// tooth rises, and is emptied every few days.
func tooth(r *rand.Rand) (process, int) {
	period, height, level := between(r, 2, 12), between(r, 100, 500), between(r, 50, 400)
	days := max(7+r.IntN(53), int(2.6*period)+3)
	return noisy(r, between(r, 0, 5), 0, func(at float64) float64 { return level + height*math.Mod(at, period)/period }), days
}

// step stays, and jumps once or twice.
func step(r *rand.Rand) (process, int) {
	days := 7 + r.IntN(53)
	level, up, first, second := between(r, 300, 500), between(r, 50, 250), between(r, 0, float64(days)), between(r, 0, float64(days))
	return noisy(r, between(r, 0, 5), 0, func(at float64) float64 {
		used := level
		if at > first {
			used += up
		}
		if at > second {
			used -= up / 3
		}
		return used
	}), days
}

// noise stays, with more or less noise.
func noise(r *rand.Rand) (process, int) {
	level := between(r, 200, 800)
	return noisy(r, between(r, 1, 60), between(r, 0, 0.6), func(float64) float64 { return level }), 7 + r.IntN(53)
}

// shrinking becomes less.
func shrinking(r *rand.Rand) (process, int) {
	rate := between(r, 1, 8)
	return noisy(r, rate, 0, func(at float64) float64 { return 900 - rate*at }), 7 + r.IntN(53)
}

// seen are the values of every six hours.
func seen(p process, days int) (history []forecast.Point, now time.Time) {
	at := func(day float64) time.Time { return monday.Add(time.Duration(day * 24 * float64(time.Hour))) }
	for i := range days * 4 {
		day := float64(i) / 4
		history = append(history, forecast.Point{At: at(day), Used: p(day), Size: size})
	}
	return history, at(float64(days))
}

// fills is the first day after days on which a process has used up the size.
func fills(p process, days int) float64 {
	for day := float64(days); day < float64(days)+2000; day += 0.25 {
		if p(day) >= size && p(math.Floor(day)+0.5) >= size {
			return day - float64(days)
		}
	}
	return math.Inf(1)
}

// TestTheConfidenceHolds: of 200 drawn histories of each kind that grows, the day lies within the bounds for at
// least the stated share. The bounds are no wider than they have to be: with confident at 3 instead of 1.645 this test
// fails, and with 1.2 too. What least squares say lies within them as well.
func TestTheConfidenceHolds(t *testing.T) {
	t.Parallel()
	const all = 200
	for name, c := range map[string]struct {
		draw    draws
		dated   int     // at least
		widest  float64 // on average, as a share of the days
		squares float64 // at least so many dates of least squares lie within
	}{"linear": {linear, 190, 0.12, 0.95}, "rough": {rough, 180, 0.3, 0.95}, "seasonal": {seasonal, 160, 0.2, 0.9}} {
		r := rand.New(rand.NewPCG(39, 3))
		dated, within, squares, wide := 0, 0.0, 0.0, 0.0
		for range all {
			p, days := c.draw(r)
			history, now := seen(p, days)
			f := forecast.Of(history, now)
			if f.Reason != "" || f.Full() {
				continue
			}
			dated++
			if full := fills(p, days); f.Soonest <= full && full <= f.Latest {
				within++
			}
			if full := leastSquares(history); f.Soonest <= full && full <= f.Latest {
				squares++
			}
			wide += (f.Latest - f.Soonest) / max(f.Days, 7)
		}
		within, squares, wide = within/float64(dated), squares/float64(dated), wide/float64(dated)
		t.Logf("%s: %d of %d have a date, %.1f %% lie within, and %.1f %% of those of least squares; mean width %.2f of the days", name, dated, all, 100*within, 100*squares, wide)
		if within < forecast.Confidence || squares < c.squares || dated < c.dated || wide > c.widest {
			t.Errorf("%s: want %d with a date, %v within, %v of least squares, and at most the width %v", name, c.dated, forecast.Confidence, c.squares, c.widest)
		}
	}
}

// leastSquares is in how many days the line through a history with the least squares is at the size.
func leastSquares(history []forecast.Point) float64 {
	var n, x, y, xx, xy float64
	last := history[len(history)-1].At
	for _, p := range history {
		day := p.At.Sub(last).Hours() / 24
		n, x, y, xx, xy = n+1, x+day, y+p.Used, xx+day*day, xy+day*p.Used
	}
	slope := (n*xy - x*y) / (n*xx - x*x)
	return (size-(y-slope*x)/n)/slope - 0.25 // now is six hours after the last
}

// TestHistoriesThatDoNotFillHaveNoDate: of 200 drawn histories of each kind that does not fill, none has a date.
func TestHistoriesThatDoNotFillHaveNoDate(t *testing.T) {
	t.Parallel()
	for name, draw := range map[string]draws{"saw-tooth": tooth, "step": step, "noise": noise, "shrinking": shrinking} {
		r := rand.New(rand.NewPCG(39, 4))
		reasons := map[forecast.Reason]int{}
		for range 200 {
			p, days := draw(r)
			history, now := seen(p, days)
			f := forecast.Of(history, now)
			if reasons[f.Reason]++; f.Reason == "" {
				t.Errorf("%s of %d days: full in %v days (%v to %v), growing by %v", name, days, f.Days, f.Soonest, f.Latest, f.PerDay)
			}
		}
		t.Logf("%s: %v", name, reasons)
	}
}

// TestReasons: each reason, and what the forecast knows beside it.
func TestReasons(t *testing.T) {
	t.Parallel()
	straight := func(rate float64) process { return func(at float64) float64 { return 500 + rate*at } }
	of := func(p process, days int) []forecast.Point {
		history, _ := seen(p, days)
		return history
	}
	sized := func(history []forecast.Point, of func(i int) float64) []forecast.Point {
		for i := range history {
			history[i].Size = of(i)
		}
		return history
	}
	for name, c := range map[string]struct {
		history []forecast.Point
		want    forecast.Reason
	}{
		"nothing":               {nil, forecast.NotMeasured},
		"six days":              {of(straight(10), 6), forecast.TooShort},
		"seven days":            {of(straight(10), 7), ""},
		"two days of many":      {append(of(straight(10), 1), forecast.Point{At: monday.AddDate(0, 0, 20), Used: 700, Size: size}), forecast.TooShort},
		"full":                  {of(straight(100), 7), ""},
		"it stays":              {of(straight(0), 20), forecast.NotGrowing},
		"it becomes less":       {of(straight(-3), 20), forecast.NotGrowing},
		"it stopped":            {of(func(at float64) float64 { return 500 + 10*min(at, 15) }, 30), forecast.NotGrowing},
		"far away":              {of(straight(0.1), 30), forecast.Far},
		"no limit":              {sized(of(straight(10), 20), func(int) float64 { return 0 }), forecast.NoLimit},
		"replaced lately":       {of(func(at float64) float64 { return 500 + 10*at - 300*math.Round(at/32) }, 20), forecast.Step},
		"replaced long ago":     {of(func(at float64) float64 { return 500 + 10*at - 300*math.Round(at/20) }, 20), ""},
		"emptied once at noon":  {of(func(at float64) float64 { return 500 + 10*at - 300*math.Round((at-4.5)/20) }, 20), forecast.Step},
		"enlarged":              {sized(of(straight(10), 20), func(i int) float64 { return 800 + 200*float64(i/40) }), ""},
		"made smaller":          {sized(of(straight(10), 20), func(i int) float64 { return 1500 - 500*float64(i/40) }), ""},
		"smaller than its data": {sized(of(straight(10), 20), func(i int) float64 { return 1000 - 500*float64(i/40) }), ""},
		"a quota that follows":  {sized(of(straight(10), 20), func(i int) float64 { return 1000 + 10*float64(i)/4 }), forecast.NotGrowing},
		"others share the pool": {sized(of(straight(0), 20), func(i int) float64 { return 1000 - 5*float64(i) }), ""},
	} {
		now := monday
		if len(c.history) > 0 {
			now = c.history[len(c.history)-1].At.Add(time.Hour)
		}
		f := forecast.Of(c.history, now)
		if f.Reason != c.want {
			t.Errorf("%s: %+v", name, f)
		}
		if c.want == "" && !f.Full() && (f.Soonest > f.Days || f.Latest < f.Days || f.Latest > 2*f.Days+4) {
			t.Errorf("%s: %+v", name, f)
		}
		if len(c.history) > 0 {
			if f := forecast.Of(c.history, now.Add(72*time.Hour)); f.Reason != forecast.Stale {
				t.Errorf("%s, three days later: %+v", name, f)
			}
		}
	}
}
