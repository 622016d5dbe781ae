package packing

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/codec"
	"muster/internal/measurements/pgstore/rowbytes"
)

// FuzzUnpack reads bytes that packStatements may not have written, as a failing disk might leave
// them: an error is a valid answer and a panic is not.
func FuzzUnpack(f *testing.F) {
	hour := time.Date(2026, 11, 23, 10, 0, 0, 0, time.UTC)
	arrived, err := codec.Arrivals(measurements.Batch{Statements: []measurements.StatementSample{{
		Instance: uuid.UUID{1}, Database: uuid.UUID{2}, At: hour,
		Statements: []measurements.Statement{{Key: "a", Calls: 500, TotalMs: 12}, {Key: "b", Calls: 1, TotalMs: 3}},
	}}})
	if err != nil || len(arrived) != 1 {
		f.Fatal(len(arrived), err)
	}
	body := arrived[0].Body
	packed, err := packStatements(hour, []codec.Sample{{At: hour, Body: body}, {At: hour.Add(time.Minute), Body: body}})
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Fuzz(func(t *testing.T, plain []byte) {
		if _, err := unpackStatements(hour, plain, hour, hour.Add(time.Hour)); err != nil && !errors.Is(err, rowbytes.ErrBytes) {
			t.Error(err)
		}
	})
}
