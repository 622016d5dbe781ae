package demo

import (
	"math"
	"time"
)

// measureSeed makes the demo's measurements what they are.
const measureSeed = 0x6d7573746572

// rhythm is the course of a server's days and weeks. Times are UTC.
type rhythm struct {
	Hours   [24]float64 // how busy it is at each full hour, from 0 to 1
	Weekend float64     // how much of that it is on Saturdays and Sundays
}

// load is how busy a server is at a time.
func (r rhythm) load(at time.Time) float64 {
	hour := at.Hour()
	now, next := r.Hours[hour], r.Hours[(hour+1)%len(r.Hours)]
	busy := now + (next-now)*float64(at.Minute())/60
	if weekday := at.Weekday(); weekday == time.Saturday || weekday == time.Sunday {
		busy *= r.Weekend
	}
	return busy
}

// chance has a number from 0 to 1 for each minute, whichever is asked for first.
type chance uint64

func newChance(words ...string) chance { return chance(measureSeed ^ hash(words...)) }

// draw returns the number of a minute (splitmix64).
func (c chance) draw(minute int64) float64 {
	x := uint64(c) + uint64(minute)*0x9e3779b97f4a7c15 //nolint:gosec // G115: any bits do
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return float64((x^x>>31)>>11) / (1 << 53)
}

// drift returns numbers that go from one to the next within so many minutes.
func (c chance) drift(minute, width int64) float64 {
	step, part := minute/width, float64(minute%width)/float64(width)
	from, to := c.draw(step), c.draw(step+1)
	return from + (to-from)*part
}

// whole rounds to one of the two whole numbers beside x, to the nearer one more
// often: what happens once in ten minutes happens in one of ten.
func (c chance) whole(minute int64, x float64) int64 {
	return int64(math.Floor(x + c.draw(minute)))
}

// minuteOf numbers the minutes.
func minuteOf(at time.Time) int64 { return at.Unix() / 60 }
