package measurements_test

import (
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"muster/internal/measurements"
)

func TestValuesAsJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		value float64
		want  string
	}{
		{0, "0"},
		{math.Copysign(0, -1), "0"},
		{-0.0004, "0"},
		{1e-4, "0"},
		{0.0005, "0.001"},
		{-0.0005, "-0.001"},
		{0.0625, "0.063"}, // a half in binary too: away from zero
		{2.0005, "2.001"},
		{2.0004999, "2"},
		{1.9999, "2"},
		{0.1 + 0.2, "0.3"},
		{10, "10"},
		{1200, "1200"},
		{41.5, "41.5"},
		{10.9, "10.9"},
		{1.0 / 3, "0.333"},
		{123456789.1239, "123456789.124"},
		{1e12 + 0.125, "1000000000000.125"},
		{9007199254740.993, "9007199254740.992"}, // the nearest that there is
		{1e21, "1000000000000000000000"},
		{-1e21, "-1000000000000000000000"},
		{math.MaxFloat64, strconv.FormatFloat(math.MaxFloat64, 'f', 0, 64)},
		{math.NaN(), "null"},
		{math.Inf(1), "null"},
		{math.Inf(-1), "null"},
	} {
		got, err := json.Marshal(measurements.Values{c.value})
		if err != nil || string(got) != "["+c.want+"]" {
			t.Errorf("%g: %s (%v), want %s", c.value, got, err, c.want)
		}
	}
}

func TestLinesAsJSON(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		values measurements.Values
		want   string
	}{
		{nil, "[]"},
		{measurements.Values{}, "[]"},
		{measurements.Values{1.5, math.NaN(), 0, 2}, "[1.5,null,0,2]"},
	} {
		if got, err := json.Marshal(c.values); err != nil || string(got) != c.want {
			t.Errorf("%v: %s (%v), want %s", c.values, got, err, c.want)
		}
	}
}

// TestValuesAreRoundedToThreeDecimals: the nearest number with three decimals or, as
// near as its product with 1,000 is to a half, the one beside it.
func TestValuesAreRoundedToThreeDecimals(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.OneOf(
			rapid.Float64Range(-1e6, 1e6),
			rapid.Float64Range(-1e15, 1e15),
			rapid.Custom(func(t *rapid.T) float64 { return float64(rapid.Int64Range(-1e12, 1e12).Draw(t, "halves")) / 2000 }),
		).Draw(t, "x")
		text, err := measurements.Values{x}.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		written := string(text[1 : len(text)-1])
		got, err := strconv.ParseFloat(written, 64)
		if err != nil {
			t.Fatal(err)
		}
		if _, decimals, has := strings.Cut(written, "."); has && (len(decimals) > 3 || strings.HasSuffix(decimals, "0")) {
			t.Errorf("%g is written %s", x, written)
		}
		if ulp := math.Nextafter(math.Abs(x), math.Inf(1)) - math.Abs(x); math.Abs(got-x) > 0.0005+2*ulp {
			t.Errorf("%g is written %s", x, written)
		}
	})
}

// TestValuesAreWrittenInOnePiece: allocations are those of the buffer as it grows.
func TestValuesAreWrittenInOnePiece(t *testing.T) {
	line := make(measurements.Values, 10_080)
	for i := range line {
		line[i] = float64(i) * 1.2345
	}
	if n := testing.AllocsPerRun(10, func() {
		if _, err := line.MarshalJSON(); err != nil {
			t.Error(err)
		}
	}); n > 4 {
		t.Errorf("%g allocations for %d values", n, len(line))
	}
}
