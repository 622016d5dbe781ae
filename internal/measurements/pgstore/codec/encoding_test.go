package codec

import (
	"fmt"
	"math"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
	"muster/internal/measurements/waitclass"
)

// TestShortNumbers are right to eleven digits, whole where they are small, and never
// grow beyond what is finite.
func TestShortNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		v := rapid.Float64Range(0, math.MaxFloat64).Draw(r, "number")
		got := rowbytes.ShortOf(rowbytes.AppendShort(nil, v))
		if math.Abs(got-v) > 1e-11*v && v > 1e-300 || math.IsInf(got, 0) {
			r.Fatalf("%g becomes %g", v, got)
		}
		if again := rowbytes.ShortOf(rowbytes.AppendShort(nil, got)); again != got {
			r.Fatalf("%g becomes %g", got, again)
		}
		whole := float64(rapid.IntRange(0, 1<<36).Draw(r, "whole"))
		if got := rowbytes.ShortOf(rowbytes.AppendShort(nil, whole)); got != whole {
			r.Fatalf("%g becomes %g", whole, got)
		}
	})
}

// TestScaledNumbers come back as they were, whatever they are.
func TestScaledNumbers(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		scale := rapid.SampledFrom([]float64{1, hundredths}).Draw(r, "scale")
		v := rapid.OneOf(rapid.Float64(), rapid.Map(rapid.Int64(), func(n int64) float64 { return float64(n) / 100 })).Draw(r, "number")
		read := read(rowbytes.AppendScaled(nil, v, scale))
		if got := read.Scaled(scale); math.Float64bits(got) != math.Float64bits(v) || read.End() != nil {
			r.Fatalf("%g becomes %g, %v", v, got, read.End())
		}
	})
}

// TestHostsAreDecodedAsEncoded, but for the volumes that never count.
func TestHostsAreDecodedAsEncoded(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(r *rapid.T) {
		b := hostBodyOf(drawnHost(r, monday))
		got, err := DecodeHost(b.encode())
		if err != nil {
			r.Fatal(err)
		}
		same := gocmp.Options{gocmp.AllowUnexported(HostBody{}, volumeBody{}), cmpopts.EquateNaNs()}
		if len(b.counters) == 0 {
			same = append(same, cmpopts.EquateEmpty()) // no counters
		}
		if diff := gocmp.Diff(b, got, same); diff != "" {
			r.Fatalf("(-want +got):\n%s", diff)
		}
		if b.isSample() != got.isSample() {
			r.Fatalf("%+v is a sample: %t, and then %t", b, b.isSample(), got.isSample())
		}
		for _, v := range got.volumes {
			if v.mount == "/boot" || v.mount == "/snap/core/1" {
				r.Fatalf("%s is kept", v.mount)
			}
		}
	})
}

// TestShownWaits are the sum over databases of their averages: as fractions, and as numbers where those would
// be large.
func TestShownWaits(t *testing.T) {
	t.Parallel()
	ways := map[bool]int{}
	rapid.Check(t, func(r *rapid.T) {
		row := make(WaitRow, 60)
		want := make([][]float64, 60)
		most := rapid.SampledFrom([]uint64{1, 6, 360, 60480, 1 << 40}).Draw(r, "most")
		for i := range rapid.IntRange(0, 60).Draw(r, "slots") {
			row[i], want[i] = WaitSlot{}, make([]float64, waitclass.Categories)
			for n := range rapid.ByteRange(0, 4).Draw(r, "databases") {
				s := WaitSums{Samples: rapid.Uint64Range(1, most).Draw(r, "samples")}
				for c := range s.Sums {
					if rapid.Bool().Draw(r, "waits") {
						s.Sums[c] = rapid.Uint64Range(1, most).Draw(r, "sum")
						want[i][c] += float64(s.Sums[c]) / float64(s.Samples)
					}
				}
				row[i].AddDatabase(uuid.UUID{15: n}, s)
			}
			ways[row[i].Shown()[0]&isFraction != 0]++
		}
		encoded := row.encode()
		e := NewWaitEvents(MinutesOfHour)
		if encoded != nil {
			shown, _, err := shownPart(encoded)
			if err != nil {
				r.Fatal(err)
			}
			part, err := rowbytes.Cut(shown, 0, 0, MinutesOfHour)
			if err != nil {
				r.Fatal(err)
			}
			if err := e.Take(part); err != nil {
				r.Fatal(err)
			}
		}
		sums := e.Sums()
		for i, w := range want {
			got := make([]float64, waitclass.Categories)
			for c := range got {
				got[c] = sums.Waiting[c][i]
			}
			if w == nil {
				w = measurements.Gaps(waitclass.Categories)
			}
			if !near(w, got) {
				r.Fatalf("minute %d shows %v, want %v of %v", i, got, w, row[i])
			}
		}
	})
	if ways[true] == 0 || ways[false] == 0 {
		t.Errorf("%d fractions and %d numbers were tried", ways[true], ways[false])
	}
}

// TestBytes holds the encodings to what was reckoned with: 25 bytes a delta with
// everything that PostgreSQL adds to a row, which is some 80, and rows whose size is what
// the time of a tile goes into.
func TestBytes(t *testing.T) {
	t.Parallel()
	s := measurements.StatementSample{Instance: uuid.New(), Engine: fleet.PostgreSQL, Database: uuid.New(), At: monday}
	for n := range 100 {
		s.Statements = append(s.Statements, measurements.Statement{Key: fmt.Sprint(n), Calls: int64(1 + n*n), TotalMs: math.Sqrt(float64(n))})
	}
	if n := len(appendStatements(nil, s)); n > 1900 {
		t.Errorf("100 statements take %d bytes", n)
	}

	scrape := measurements.HostSample{Host: "db", At: monday, Memory: &measurements.MemoryBytes{Total: 1 << 34, Available: 1 << 33, Used: -1}}
	for cpu := range int32(8) {
		for mode := range measurements.ModeOther {
			scrape.CPU = append(scrape.CPU, measurements.CPUCounter{Code: 16*cpu + mode, Seconds: 1234567.89})
		}
	}
	if n := len(hostBodyOf(scrape).encode()); n > 8*8*6+20 {
		t.Errorf("a scrape of 8 CPUs takes %d bytes", n)
	}

	minute := HostSlot{sampled: true, cpu: 100.0 / 3, weight: nativeWeight, memory: 100.0 / 7, n: 4, disk: 100.0 / 9}
	if n := len(rowbytes.RowOf([][]byte{minute.encode()})); n > 21 {
		t.Errorf("a minute of a host takes %d bytes", n)
	}
	waits := WaitRow{WaitSlot{{1}: {Samples: 6, Sums: Waiting{3, 0, 12}}, {2}: {Samples: 5, Sums: Waiting{0, 0, 7, 9}}, {3}: {Samples: 1, Sums: Waiting{1}}}}
	shown, _, err := shownPart(waits.encode())
	if err != nil || len(shown) > 10 {
		t.Errorf("a minute of three databases shows %d bytes, %v", len(shown), err)
	}
}
