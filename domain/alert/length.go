package alert

import (
	"strconv"
	"time"
)

// Length is how long something took, in its two largest units: "2 h 5 min", "42 s".
func Length(d time.Duration) string {
	pair := func(big time.Duration, bigUnit string, small time.Duration, smallUnit string) string {
		s := strconv.Itoa(int(d/big)) + " " + bigUnit
		if rest := d % big / small; rest > 0 {
			s += " " + strconv.Itoa(int(rest)) + " " + smallUnit
		}
		return s
	}
	const day = 24 * time.Hour
	switch {
	case d < time.Minute:
		return strconv.Itoa(int(d/time.Second)) + " s"
	case d < time.Hour:
		return pair(time.Minute, "min", time.Second, "s")
	case d < day:
		return pair(time.Hour, "h", time.Minute, "min")
	}
	return pair(day, "d", time.Hour, "h")
}
