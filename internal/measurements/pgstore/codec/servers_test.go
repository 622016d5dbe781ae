package codec

import (
	"errors"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore/rowbytes"
)

// TestFiguresOfANewerProgramAreKept: a program adds them up as the newer one does, shows none of them,
// and shows its own figures of the same bucket.
func TestFiguresOfANewerProgramAreKept(t *testing.T) {
	t.Parallel()
	counted, gauge, own := figureKey{figure: 200, database: uuid.UUID{2}}, figureKey{figure: 201}, figureKey{figure: 1}
	sample := func(second int, of, is uint64) Sample {
		told := [figureTellings]uint64{1}
		return Sample{At: monday.Add(time.Duration(second) * time.Second), Body: figures{
			counted: {counts: true, samples: told, value: of, over: 1_000_000},
			gauge:   {samples: told, value: is, holder: &holder{session: "17"}},
			own:     {samples: told, value: is},
		}.encode()}
	}
	kind := KindOf(Servers)
	minutes, _, err := kind.Roll(fleet.PostgreSQL, monday, 0b11, []Sample{sample(10, 5, 9), sample(20, 3, 7), sample(80, 4, 12)}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	hour, err := kind.Total(fleet.PostgreSQL, minutes, MinutesOfHour, nil)
	if err != nil {
		t.Fatal(err)
	}
	all, err := decodeFigures(hour)
	if err != nil || all[counted].value != 12 || all[counted].over != 3_000_000 || !all[counted].counts || all[gauge].value != 12 || all[gauge].holder == nil {
		t.Errorf("%v, %+v", err, all)
	}
	shown := 0
	err = EachFigure(hour, func(of measurements.FigureOf, s FigureSum) {
		shown++
		if value, ok := s.Value(of.Figure); of.Figure != measurements.OldestIdle || value != 12 || !ok {
			t.Errorf("%+v: %v", of, value)
		}
	})
	if err != nil || shown != 1 {
		t.Errorf("%d figures are shown, %v", shown, err)
	}
}

// TestEncodedFiguresDoNotStateWhetherTheyAreSums: their place does.
func TestEncodedFiguresDoNotStateWhetherTheyAreSums(t *testing.T) {
	t.Parallel()
	slot := figures{{figure: 2}: {samples: [figureTellings]uint64{1}, value: 5, over: 60_000_000}}.encode()
	var sum figures
	for range 2 {
		if err := sum.addSlot(slot); err != nil {
			t.Fatal(err)
		}
	}
	if got := sum[figureKey{figure: 2}]; got.value != 10 || got.over != 120_000_000 {
		t.Errorf("%+v", got)
	}
	if _, err := decodeFigures(slot[:len(slot)-1]); !errors.Is(err, rowbytes.ErrBytes) {
		t.Errorf("cut off: %v", err)
	}
}
