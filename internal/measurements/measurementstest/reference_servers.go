package measurementstest

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// ServerFigures is documented at measurements.Store.
func (r *Reference) ServerFigures(_ context.Context, organization uuid.UUID, engine fleet.Engine, instance uuid.UUID, w timegrid.Window) (measurements.ServerFigures, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var all []measurements.ServerSample
	for _, s := range r.of(organization).servers {
		if s.Instance == instance && s.Engine == engine {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b measurements.ServerSample) int { return a.At.Compare(b.At) })
	found := measurements.ServerFigures{}
	for i := range w.Len() {
		figures := make(map[measurements.FigureOf][]measurements.ServerFigure)
		for _, s := range all {
			if w.Index(s.At) == i {
				for _, f := range s.Figures {
					of := measurements.FigureOf{Figure: f.Figure, Database: f.Database}
					figures[of] = append(figures[of], f)
				}
			}
		}
		for of, samples := range figures {
			if found[of] == nil {
				found[of] = measurements.NewFigureSeries(w.Len())
			}
			found[of].Told[i], found[of].Values[i], found[of].Holders[i] = bucketOf(of.Figure, samples)
		}
	}
	found.FillDatabases()
	return found, nil
}

// bucketOf is what the samples of a bucket come to: as they were told best, the greatest, the
// events or the events a second, and who held the greatest.
func bucketOf(of measurements.Figure, samples []measurements.ServerFigure) (measurements.Telling, float64, *measurements.HolderSeen) {
	order := []measurements.Telling{measurements.Told, measurements.NotTold, measurements.Denied}
	told := slices.MinFunc(samples, func(a, b measurements.ServerFigure) int {
		return cmp.Compare(slices.Index(order, a.Telling), slices.Index(order, b.Telling))
	}).Telling
	if told != measurements.Told {
		return told, gap, nil
	}
	var sum float64
	var over time.Duration
	greatest := measurements.ServerFigure{Value: -1}
	for _, f := range samples {
		if f.Telling != measurements.Told {
			continue
		}
		sum, over = sum+float64(f.Value), over+f.Interval
		if f.Value > greatest.Value {
			greatest = f
		}
	}
	switch {
	case of.Counts() && over == 0:
		return told, gap, nil
	case of.PerSecond():
		return told, sum / over.Seconds(), nil
	case of.Counts():
		return told, sum, nil
	case greatest.Holder == nil:
		return told, float64(greatest.Value), nil
	}
	h := greatest.Holder.Clean()
	seen := measurements.HolderSeen{
		Session: h.Session, Database: h.Database, State: h.State, User: measurements.NameKey{}.Hash(measurements.DimUser, h.User),
		Application: measurements.NameKey{}.Hash(measurements.DimApplication, h.Application), Client: measurements.NameKey{}.Hash(measurements.DimClient, h.Client),
	}
	if h.Statement != "" {
		seen.Statement = measurements.HashStatement(h.Database, h.Statement)
	}
	return told, float64(greatest.Value), &seen
}
