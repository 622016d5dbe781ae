package httpapi

import (
	"context"

	"muster/commands"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
)

// RecordSamples takes in what another tool measured, all or nothing: nothing is
// written before every rule has been held against every sample.
func (s *server) RecordSamples(ctx context.Context, r api.RecordSamplesRequestObject) (api.RecordSamplesResponseObject, error) {
	if err := tooManySamples(*r.Body); err != nil {
		return nil, err
	}
	known, err := s.sampledFleet(ctx, *r.Body)
	if err != nil {
		return nil, err
	}
	if limit := wire.Actor(ctx).InstanceIDs; limit != nil {
		if err := s.withinLimit(ctx, *r.Body, known, limit); err != nil {
			return nil, err
		}
	}
	batch, err := readSamples(*r.Body, known, s.Now())
	if err != nil {
		return nil, err
	}
	batch.Organization = wire.Caller(ctx).Organization.ID
	receipt, err := s.Intake.Record(ctx, batch)
	if err != nil {
		return nil, err
	}
	s.countSamples(wire.CallOf(ctx).Route, receipt)
	var answer api.RecordSamples202JSONResponse
	answer.Accepted.Hosts = receipt.Accepted.Hosts
	answer.Accepted.Sessions = receipt.Accepted.Sessions
	answer.Accepted.Statements = receipt.Accepted.Statements
	return answer, nil
}

// countSamples counts what was kept, and what came too late for it.
func (s *server) countSamples(route string, receipt measurements.Receipt) {
	kept := receipt.Accepted
	s.Metrics.CountSamples(kept.Hosts, kept.Sessions, kept.Statements)
	late := receipt.TooLate
	s.Metrics.IngestDropped.WithLabelValues(route, "too_late").Add(float64(late.Hosts + late.Sessions + late.Statements))
}

// samplesForbidden is told to a token that is limited to instances, also where
// there is no such instance: it is not to find out which there are.
func samplesForbidden(pointer string) error {
	return &commands.RuleError{
		Code: "forbidden", Title: commands.Title("forbidden"),
		Detail: "This token may not write " + pointer + ": it keeps to its instances.",
		Fields: []commands.FieldError{{Pointer: pointer, Code: "forbidden", Detail: "is outside of this token's instances"}},
	}
}
