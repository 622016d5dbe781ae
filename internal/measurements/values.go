package measurements

import (
	"bytes"
	"math"
	"slices"
	"strconv"
)

// Values is one line of a tile, a value a bucket; NaN is a bucket without one. As
// JSON it has null there, and otherwise at most three decimals.
type Values []float64

// Gaps returns n buckets without a value.
func Gaps(n int) Values { return slices.Repeat(Values{math.NaN()}, n) }

// addValues adds another line of as many buckets; a gap in one of them is not a gap in the sum.
func (v Values) addValues(other Values) {
	for i, x := range other {
		switch {
		case math.IsNaN(x):
		case math.IsNaN(v[i]):
			v[i] = x
		default:
			v[i] += x
		}
	}
}

// MarshalJSON writes the line without an allocation for each value. What is no
// number at all is a gap too.
func (v Values) MarshalJSON() ([]byte, error) {
	out := make([]byte, 0, 8*len(v)+2)
	out = append(out, '[')
	for i, x := range v {
		if i > 0 {
			out = append(out, ',')
		}
		out = appendValue(out, x)
	}
	return append(out, ']'), nil
}

// appendValue writes a number with at most three decimals. (FormatFloat with three is
// exact, and ten times as slow: it calculates in decimals.)
func appendValue(out []byte, x float64) []byte {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return append(out, "null"...)
	}
	thousandths := math.Round(x * 1000)
	if thousandths == 0 { // no -0
		return append(out, '0')
	}
	if math.Abs(thousandths) >= 1<<53 { // no longer exact
		return bytes.TrimRight(bytes.TrimRight(strconv.AppendFloat(out, x, 'f', 3, 64), "0"), ".")
	}
	return strconv.AppendFloat(out, thousandths/1000, 'f', -1, 64)
}
