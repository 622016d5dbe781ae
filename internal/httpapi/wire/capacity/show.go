// Package capacity shows what package room knows as the API has it.
package capacity

import (
	"math"
	"time"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements/forecast"
	"muster/internal/measurements/room"
)

// percentOnly is the size of what is known as a percentage.
const percentOnly = 100

// Size is a volume, tablespace or database with its growth, and when it is full as of now.
func Size(h room.History, host string, now time.Time) api.CapacitySize {
	f := forecast.Of(h.Points, now)
	last := h.Points[len(h.Points)-1]
	shown := api.CapacitySize{Kind: api.CapacityKind(h.Kind), Name: h.Name, MeasuredAt: last.At, Host: wire.Optional(host), PastDays: Tenth(f.Past), History: daily(h.Points)}
	if last.Size != percentOnly {
		used := int64(last.Used)
		shown.UsedBytes = &used
		if last.Size > 0 {
			limit := int64(last.Size)
			shown.LimitBytes = &limit
		}
		if f.Grows {
			shown.PerDayBytes = &f.PerDay
		}
	}
	if last.Size > 0 {
		percent := Tenth(100 * last.Used / last.Size)
		shown.UsedPercent = &percent
		if f.Grows {
			perDay := 100 * f.PerDay / last.Size
			shown.PerDayPercent = &perDay
		}
	}
	if f.Reason != "" {
		reason := api.CapacityReason(f.Reason)
		shown.Reason = &reason
		return shown
	}
	shown.DaysUntilFull, shown.SoonestDays, shown.LatestDays = Tenths(&f.Days), Tenths(&f.Soonest), Tenths(&f.Latest)
	return shown
}

// daily is the last value of each day.
func daily(points []forecast.Point) []api.CapacityDay {
	days := []api.CapacityDay{}
	for i, p := range points {
		if i == len(points)-1 || points[i+1].At.UTC().YearDay() != p.At.UTC().YearDay() {
			days = append(days, api.CapacityDay{At: p.At.UTC(), Used: p.Used})
		}
	}
	return days
}

// Tenth is a figure with one decimal place.
func Tenth(v float64) float64 { return math.Round(v*10) / 10 }

// Tenths is Tenth of a figure that may be unknown or infinite, which is nil.
func Tenths(v *float64) *float64 {
	if v == nil || math.IsInf(*v, 0) {
		return nil
	}
	rounded := Tenth(*v)
	return &rounded
}

// Age is how old the ids of a database are.
func Age(a room.Age) api.CapacityAge {
	return api.CapacityAge{
		Database: a.Database, TransactionAge: a.Transactions, MultixactAge: a.Multixacts, FreezeAt: positive(a.FreezeAt), Limit: room.WrapAt,
		UsedPercent: Tenth(100 * a.Share()),
	}
}

// Sequence is a sequence or an identity column.
func Sequence(q room.Sequence) api.CapacitySequence {
	return api.CapacitySequence{
		Database: wire.Optional(q.Database), Name: q.Name, Column: wire.Optional(q.Column), Type: q.Type, LastValue: q.Last, MaxValue: q.Max, UsedPercent: Tenth(q.Used),
	}
}

// Table is how a table is looked after.
func Table(t room.Table) api.MaintenanceTable {
	return api.MaintenanceTable{
		Database: wire.Optional(t.Database), Name: t.Name, Bytes: t.Bytes, LiveRows: t.Live, DeadRows: t.Dead, ChangedRows: t.Changed,
		LastVacuum: wire.UTC(t.Vacuumed), LastAutovacuum: wire.UTC(t.Autovacuum), LastAnalyze: wire.UTC(t.Analyzed), LastAutoanalyze: wire.UTC(t.Autoanalyze),
		VacuumDue: t.Due, AutovacuumOff: t.Off, BloatBytes: t.Bloat, BloatMethod: wire.Optional(t.Method),
	}
}

// Job is a run of a job that failed.
func Job(j room.Job) api.MaintenanceJob {
	return api.MaintenanceJob{Name: j.Name, At: j.At.UTC(), Step: wire.Optional(j.Step), Why: wire.Optional(j.Why)}
}

func positive(n int64) *int64 {
	if n <= 0 {
		return nil
	}
	return &n
}
