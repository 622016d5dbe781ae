package httpapi

import (
	"bytes"
	"context"
	"errors"
	"mime"
	"slices"

	"github.com/google/uuid"

	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/intake/alertmanager"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/otlp"
	"muster/internal/intake/remotewrite"
	"muster/internal/measurements"
)

// ReceivePrometheusWrite takes in what Prometheus scraped of hosts. A bad sample is
// no reason to refuse a message: the specification of remote_write would have 400
// told where the others are kept, for its senders to give up, which our contract does
// not do to them. What 2.0 is told was written is what it sent less what was bad.
func (s *server) ReceivePrometheusWrite(ctx context.Context, _ api.ReceivePrometheusWriteRequestObject) (api.ReceivePrometheusWriteResponseObject, error) {
	call := wire.CallOf(ctx)
	_, parameters, _ := mime.ParseMediaType(call.Request.Header.Get("Content-Type"))
	decode := remotewrite.Decode1
	if parameters["proto"] == remotewrite.V2 {
		decode = remotewrite.Decode2
	}
	message, err := decode(call.Body, s.Now())
	if err != nil {
		return nil, noMessage(err)
	}
	if err := s.takeInHosts(ctx, message.Message); err != nil {
		return nil, err
	}
	answer := api.ReceivePrometheusWrite204Response{}
	if parameters["proto"] == remotewrite.V2 {
		samples := message.Received - message.Refused()
		answer.Headers = api.ReceivePrometheusWrite204ResponseHeaders{
			XPrometheusRemoteWriteSamplesWritten:    &samples,
			XPrometheusRemoteWriteHistogramsWritten: &message.Histograms,
			XPrometheusRemoteWriteExemplarsWritten:  &message.Exemplars,
		}
	}
	return answer, nil
}

// ReceiveOtlpMetrics takes in what an OpenTelemetry collector measured of hosts.
func (s *server) ReceiveOtlpMetrics(ctx context.Context, _ api.ReceiveOtlpMetricsRequestObject) (api.ReceiveOtlpMetricsResponseObject, error) {
	call := wire.CallOf(ctx)
	decode := otlp.DecodeProtobuf
	if wire.IsJSON(call.Request) {
		decode = otlp.DecodeJSON
	}
	message, err := decode(call.Body, s.Now())
	if err != nil {
		return nil, noMessage(err)
	}
	if err := s.takeInHosts(ctx, message); err != nil {
		return nil, err
	}
	answer := otlp.AnswerTo(message)
	if !wire.IsJSON(call.Request) {
		body := answer.Protobuf()
		return api.ReceiveOtlpMetrics200ApplicationxProtobufResponse{Body: bytes.NewReader(body), ContentLength: int64(len(body))}, nil
	}
	shown := api.ReceiveOtlpMetrics200JSONResponse{}
	if answer.Rejected > 0 {
		shown.PartialSuccess = &api.OtlpPartialSuccess{RejectedDataPoints: answer.RejectedText(), ErrorMessage: answer.Message}
	}
	return shown, nil
}

// noMessage is told to an agent whose body is none; it gives up then, which is right.
func noMessage(err error) error {
	var bad *hostmetrics.DecodeError
	if !errors.As(err, &bad) {
		return err
	}
	return wire.UnreadableBody("is no " + bad.Message)
}

// hostsAtOnce is how many samples are written in one transaction. What was written
// of a message before its sender gave up waiting stays, and counts once when it
// comes again.
const hostsAtOnce = 5000

// takeInHosts records what a message says of hosts, and counts what of it could not
// be used.
func (s *server) takeInHosts(ctx context.Context, message *hostmetrics.Message) error {
	route := wire.CallOf(ctx).Route
	samples := message.Samples()
	for batch := range slices.Chunk(samples, hostsAtOnce) {
		hosts, err := s.placedHosts(ctx, message, batch)
		if err != nil {
			return err
		}
		if len(hosts) == 0 {
			continue
		}
		receipt, err := s.Intake.Record(ctx, measurements.Batch{Organization: wire.Caller(ctx).Organization.ID, Hosts: hosts})
		if err != nil {
			return err
		}
		s.countSamples(route, receipt)
	}
	for reason, n := range message.Dropped {
		s.Metrics.IngestDropped.WithLabelValues(route, string(reason)).Add(float64(n))
	}
	return nil
}

// placedHosts finds the instances that samples name, with one look-up for all of
// them. What a limited token may not say is dropped.
func (s *server) placedHosts(ctx context.Context, message *hostmetrics.Message, samples []hostmetrics.Sample) ([]measurements.HostSample, error) {
	limit := wire.Actor(ctx).InstanceIDs
	references := map[string]struct{}{}
	var names []string
	for _, sample := range samples {
		for _, name := range sample.References {
			references[name] = struct{}{}
		}
		names = append(names, sample.Host)
	}
	known, err := s.instancesCalled(ctx, references)
	if err != nil {
		return nil, err
	}
	var on map[string][]uuid.UUID
	if limit != nil {
		if on, err = s.knownOn(ctx, names); err != nil {
			return nil, err
		}
	}
	hosts := make([]measurements.HostSample, 0, len(samples))
	for _, sample := range samples {
		host := sample.HostSample
		var unknown int
		host.Instances, unknown = meant(known, sample.References)
		s.Metrics.IngestDropped.WithLabelValues(wire.CallOf(ctx).Route, "unknown_instance").Add(float64(unknown))
		if limit != nil && !within(limit, host, on[host.Host]) {
			message.Withdraw(hostmetrics.Forbidden, sample.Points)
			continue
		}
		hosts = append(hosts, host)
	}
	return hosts, nil
}

// instancesCalled are the instances that references may mean.
func (s *server) instancesCalled(ctx context.Context, references map[string]struct{}) (alertmanager.Fleet, error) {
	if len(references) == 0 {
		return alertmanager.Fleet{}, nil
	}
	names := make([]string, 0, len(references))
	for name := range references {
		names = append(names, name)
	}
	instances, err := s.Fleet.Named(ctx, wire.Caller(ctx).Organization.ID, names)
	if err != nil {
		return alertmanager.Fleet{}, err
	}
	candidates := make([]alertmanager.Instance, 0, len(instances))
	for _, i := range instances {
		candidates = append(candidates, alertmanager.Instance{ID: i.ID, ExternalID: i.ExternalID, Name: i.Name, Host: i.Host})
	}
	return alertmanager.NewFleet(candidates, nil), nil
}

// meant are the instances that references mean, each once; unknown counts those that
// mean none, or several.
func meant(known alertmanager.Fleet, references []string) (ids []uuid.UUID, unknown int) {
	for _, reference := range references {
		id, _ := known.Find(alertmanager.Place{Instance: reference})
		switch {
		case id == uuid.Nil:
			unknown++
		case !slices.Contains(ids, id):
			ids = append(ids, id)
		}
	}
	return ids, unknown
}

// within says that a token for these instances may speak of a host: all that it is
// said to run are among them, and if others are known to run there, then one of them
// as well.
func within(limit []uuid.UUID, host measurements.HostSample, there []uuid.UUID) bool {
	allowed := func(id uuid.UUID) bool { return slices.Contains(limit, id) }
	if len(there) > 0 && !slices.ContainsFunc(there, allowed) {
		return false
	}
	if len(host.Instances) == 0 {
		return len(there) > 0
	}
	return !slices.ContainsFunc(host.Instances, func(id uuid.UUID) bool { return !allowed(id) })
}
