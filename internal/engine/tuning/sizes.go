package tuning

import (
	"math"
	"strconv"
	"strings"
)

// Sizes in bytes.
const (
	KB = 1 << 10
	MB = 1 << 20
	GB = 1 << 30
	TB = 1 << 40
)

// units are what engines call sizes: powers of 1024, whatever the letters.
var units = map[string]float64{
	"": 1, "B": 1, "BYTES": 1, "K": KB, "KB": KB, "M": MB, "MB": MB, "G": GB, "GB": GB, "T": TB, "TB": TB,
}

// bytesOf reads a size: a number with a unit behind it, or else the unit beside it, which
// may itself be a number of units (8kB). Blank is the unit of a number that has none.
func bytesOf(value, unit, blank string) (float64, bool) {
	number, own := splitNumber(value)
	n, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return 0, false
	}
	if own != "" {
		unit = own
	} else if unit == "" {
		unit = blank
	}
	times, name := splitNumber(unit)
	factor, known := units[strings.ToUpper(name)]
	if times != "" {
		many, err := strconv.ParseFloat(times, 64)
		if err != nil {
			return 0, false
		}
		factor *= many
	}
	return n * factor, known && !math.IsNaN(n*factor) && !math.IsInf(n*factor, 0)
}

// splitNumber parts a number from the letters behind it.
func splitNumber(s string) (number, letters string) {
	s = strings.TrimSpace(s)
	end := strings.LastIndexAny(s, "0123456789.") + 1
	return s[:end], strings.TrimSpace(s[end:])
}

// Size writes bytes as people read them: 1.5 GB.
func Size(bytes float64) string {
	for _, u := range []struct {
		factor float64
		name   string
	}{{TB, "TB"}, {GB, "GB"}, {MB, "MB"}, {KB, "kB"}} {
		if bytes >= u.factor {
			return strings.TrimSuffix(strconv.FormatFloat(bytes/u.factor, 'f', 1, 64), ".0") + " " + u.name
		}
	}
	return strconv.FormatFloat(bytes, 'f', 0, 64) + " bytes"
}

// Literal writes bytes as PostgreSQL and Oracle take them, rounded down: whole gigabytes
// from 8 of them on, else whole megabytes.
func Literal(bytes float64, gigabyte, megabyte string) string {
	if bytes >= 8*GB {
		return strconv.FormatFloat(math.Floor(bytes/GB), 'f', 0, 64) + gigabyte
	}
	return strconv.FormatFloat(max(1, math.Floor(bytes/MB)), 'f', 0, 64) + megabyte
}

// PercentOf writes a part of a whole.
func PercentOf(part, whole float64) string {
	p, decimals := 100*part/whole, 0
	if p < 10 {
		decimals = 1
	}
	return strconv.FormatFloat(p, 'f', decimals, 64) + "%"
}

// Grouped writes a whole number as people read it: 1,204.
func Grouped(n int) string {
	digits, sign := strconv.Itoa(n), ""
	if n < 0 {
		digits, sign = digits[1:], "-"
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}

// Plural counts things: 1 hour, 1,204 hours.
func Plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Grouped(n) + " " + many
}
