package handlers

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/engine"
	"muster/internal/measurements"
	"muster/internal/measurements/waitclass"
	"muster/internal/report/serverfacts"
	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis/window"
)

// machineAge is the maximum age of a sample that says how large a host is: older ones may be
// sealed.
const machineAge = 72 * time.Hour

// mostMachines is more hosts than a server runs on.
const mostMachines = 1000

// addTuning adds the values with which the settings of a scorecard's instance are compared.
func (g *Inputs) addTuning(ctx context.Context, in Gathering, doc *snapshot.Document) error {
	if doc.Window == nil || len(doc.Instances) == 0 {
		return nil
	}
	instance := doc.Instances[0]
	t := &snapshot.Tuning{}
	settings, err := g.Facts.Settings(ctx, in.OrganizationID, instance.ID)
	if err != nil {
		return err
	}
	names := window.HintedSettings(instance.Engine)
	for _, s := range settings {
		if s.Value != nil && slices.Contains(names, strings.ToLower(s.Name)) {
			t.Settings = append(t.Settings, snapshot.Setting{Name: strings.ToLower(s.Name), Value: *s.Value, Unit: s.Unit})
		}
	}
	machines, err := g.Measurements.Machines(ctx, in.OrganizationID, serverfacts.HostsOf(instance), doc.AsOf.Add(-machineAge), mostMachines)
	if err != nil {
		return err
	}
	for _, m := range machines {
		t.Machines = append(t.Machines, machine(m))
	}
	if err := g.addSessions(ctx, in.OrganizationID, doc, t); err != nil {
		return err
	}
	doc.Tuning = t
	return nil
}

func machine(m measurements.Machine) snapshot.Machine {
	out := snapshot.Machine{Host: m.Host, At: m.At, Instances: m.Instances}
	if m.MemoryBytes > 0 {
		out.MemoryBytes = &m.MemoryBytes
	}
	if m.CPUs > 0 {
		out.CPUs = &m.CPUs
	}
	return out
}

// addSessions takes in how many sessions are open, and how many waited.
func (g *Inputs) addSessions(ctx context.Context, organization uuid.UUID, doc *snapshot.Document, t *snapshot.Tuning) error {
	instance := doc.Instances[0]
	of := fleet.Engine(instance.Engine)
	if !slices.Contains(engine.Measured(), of) {
		return nil
	}
	var databases []uuid.UUID
	for _, db := range instance.Databases {
		if db.ID != uuid.Nil {
			databases = append(databases, db.ID)
		}
	}
	open, err := g.Measurements.Connections(ctx, organization, of, databases, doc.AsOf)
	if err != nil {
		return err
	}
	if !open.SampledAt.IsZero() {
		total, at := open.Total(), open.SampledAt.UTC()
		t.Open, t.SampledAt = &total, &at
	}
	scope := fleet.Scope{Filtered: true, Instances: []uuid.UUID{instance.ID}}
	sums, err := g.Measurements.WaitEvents(ctx, organization, of, scope, timegrid.Window{From: doc.Window.From, To: doc.Window.To, Size: timegrid.Hour})
	if err != nil {
		return err
	}
	t.Waits = waitsOf(sums)
	return nil
}

// waitsOf are the means of hours; nil where no hour has a sample.
func waitsOf(sums measurements.WaitSums) *snapshot.Waits {
	w := &snapshot.Waits{Of: len(sums.Waiting[waitclass.IO]), Partial: sums.Partial}
	mean := func(category int) float64 {
		sum, n := 0.0, 0
		for _, v := range sums.Waiting[category] {
			if !math.IsNaN(v) {
				sum, n = sum+v, n+1
			}
		}
		if w.Hours = n; n == 0 {
			return 0
		}
		return math.Round(1000*sum/float64(n)) / 1000
	}
	w.IO, w.Locks, w.Latches = mean(waitclass.IO), mean(waitclass.Locks), mean(waitclass.LightweightLocks)
	if w.Hours == 0 {
		return nil
	}
	return w
}
