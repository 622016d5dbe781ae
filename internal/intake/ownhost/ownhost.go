package ownhost

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"muster/domain/instant"
	"muster/internal/assessment"
	"muster/internal/concurrency/pause"
	"muster/internal/intake"
	"muster/internal/measurements"
)

const (
	// Every is how often the machine is measured: as often as agents do.
	Every = 15 * time.Second
	// placesEvery is how often it is asked whose host it is.
	placesEvery = time.Minute
)

// Connections knows how servers are reached; *assessment.Store is one.
type Connections interface {
	Registered(ctx context.Context) ([]assessment.Registered, error)
	Credentials(ctx context.Context, organization, instance uuid.UUID) (assessment.Credentials, bool, error)
}

// Host measures the machine it runs on.
type Host struct {
	Connections   Connections
	Organizations func(ctx context.Context) ([]uuid.UUID, error) // of the installation
	// Hosts returns the host of each server of an organization, "" if it is not known.
	Hosts  func(ctx context.Context, organization uuid.UUID) ([]string, error)
	Intake intake.Store
	Log    *slog.Logger
	Now    func() time.Time
	Kept   func(measurements.Receipt) // called with the result of each batch; nil: not called

	// Run's alone:
	belongs []ownPlace
	asked   time.Time
	here    map[assessment.Registered]bool
	failing bool
}

// Run measures until ctx ends, and returns its error.
func (h *Host) Run(ctx context.Context) error {
	return pause.Every(ctx, Every, func() {
		err := h.measure(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil && !h.failing: // once, not every fifteen seconds
			h.Log.WarnContext(ctx, "the machine that Muster runs on cannot be measured, or not all of it", "error", err)
		case err == nil && h.failing:
			h.Log.InfoContext(ctx, "the machine that Muster runs on is measured again")
		}
		h.failing = err != nil
	})
}

// measure takes one sample, for everybody whose host it is.
func (h *Host) measure(ctx context.Context) error {
	at := instant.Cut(h.Now())
	here, err := ThisMachine()
	if err != nil {
		return err
	}
	var placesErr error
	if h.asked.IsZero() || at.Sub(h.asked).Abs() >= placesEvery {
		var belongs []ownPlace
		if belongs, placesErr = h.places(ctx, here); placesErr == nil {
			h.belongs, h.asked = belongs, at
		}
	}
	if len(h.belongs) == 0 {
		return placesErr
	}
	sample, err := Read(ctx)
	errs := []error{placesErr, err}
	sample.Host, sample.At = here.Name, at
	for _, p := range h.belongs {
		sample.Instances = p.instances
		receipt, err := h.Intake.Record(ctx, measurements.Batch{Organization: p.organization, Hosts: []measurements.HostSample{sample}})
		errs = append(errs, err)
		if h.Kept != nil {
			h.Kept(receipt)
		}
	}
	return errors.Join(errs...)
}
