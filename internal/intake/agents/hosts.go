package agents

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/otlp"
	"muster/internal/intake/receivers"
	"muster/internal/intake/remotewrite"
	"muster/internal/intake/resolve"
	"muster/internal/measurements"
)

// HostDoor takes what an agent measured of hosts, and what an OpenTelemetry collector
// did of databases with it.
type HostDoor struct {
	Config
	decode decoder
}

// decoder reads what a message says of hosts and, apart from that, of databases.
type decoder func(body []byte, receipt time.Time) (*hostmetrics.Message, *receivers.Message, error)

func remoteWrite(decode func([]byte, time.Time) (*remotewrite.Message, error)) decoder {
	return func(body []byte, receipt time.Time) (*hostmetrics.Message, *receivers.Message, error) {
		m, err := decode(body, receipt)
		if err != nil {
			return nil, nil, err
		}
		return m.Message, m.Databases, nil
	}
}

func openTelemetry(decode func([]byte, time.Time) (*otlp.Message, error)) decoder {
	return func(body []byte, receipt time.Time) (*hostmetrics.Message, *receivers.Message, error) {
		m, err := decode(body, receipt)
		if err != nil {
			return nil, nil, err
		}
		return m.Message, m.Databases, nil
	}
}

// hostsAtOnce is how many samples are written in one transaction.
const hostsAtOnce = 5000

// Take records what a message says. Error: *intake.UnreadableError.
func (d *HostDoor) Take(ctx context.Context, from intake.Caller, body []byte) (intake.Receipt, error) {
	message, databases, err := d.decode(body, d.Now())
	if err != nil {
		return intake.Receipt{}, err
	}
	intake.TellNames(ctx, message.Names)
	receipt := &message.Receipt
	for batch := range slices.Chunk(message.Samples(), hostsAtOnce) {
		hosts, err := d.placeHosts(ctx, from, receipt, batch)
		if err != nil {
			return *receipt, err
		}
		if len(hosts) == 0 {
			continue
		}
		written, err := d.Store.Record(ctx, measurements.Batch{Organization: from.OrganizationID, Hosts: hosts})
		if err != nil {
			return *receipt, err
		}
		receipt.RecordSamples(written)
	}
	receipt.Include(databases.Receipt)
	if err := d.takeReaches(ctx, from, receipt, databases.Reaches()); err != nil {
		return *receipt, err
	}
	return *receipt, d.takeLooks(ctx, from, "", receipt, databases.Looks()) // which are of connections
}

// placeHosts finds the instances that samples name, with one look-up for all of them, and
// drops what a limited token may not say.
func (d *HostDoor) placeHosts(ctx context.Context, from intake.Caller, receipt *intake.Receipt, samples []hostmetrics.Sample) ([]measurements.HostSample, error) {
	var labels []resolve.Labels
	var names []string
	for _, s := range samples {
		for _, reference := range s.References {
			labels = append(labels, resolve.Labels{Instance: reference})
		}
		names = append(names, s.Host)
	}
	directory, err := d.Places.Labelled(ctx, from.OrganizationID, labels)
	if err != nil {
		return nil, err
	}
	named := make([][]uuid.UUID, 0, len(samples))
	for i, s := range samples {
		for _, reference := range s.References {
			found := directory.Find(resolve.Labels{Instance: reference}, from.Limit)
			if found.Ambiguous {
				receipt.Drop(intake.Ambiguous, 1)
			}
			if found.Instance == uuid.Nil {
				receipt.Drop(intake.UnknownInstance, 1)
			} else if !slices.Contains(s.Instances, found.Instance) {
				s.Instances = append(s.Instances, found.Instance)
			}
		}
		samples[i].Instances, named = s.Instances, append(named, s.Instances)
	}
	var claims []fleet.HostClaim
	if from.Limit != nil {
		if claims, err = d.Places.Claims(ctx, from.OrganizationID, names, named); err != nil {
			return nil, err
		}
	}
	hosts := make([]measurements.HostSample, 0, len(samples))
	for i, s := range samples {
		if claims != nil && !from.Limit.AllowsHost(claims[i]) {
			receipt.Drop(intake.Forbidden, s.Points)
			continue
		}
		hosts = append(hosts, s.HostSample)
	}
	return hosts, nil
}
