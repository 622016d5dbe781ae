package agents_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/alert"
	"muster/domain/fleet"
	"muster/internal/intake"
	"muster/internal/intake/agents"
	"muster/internal/intake/budgets"
	"muster/internal/intake/remotewrite/remotewritetest"
	"muster/internal/intake/resolve"
	"muster/internal/measurements"
	"muster/internal/watch"
)

var (
	receipt             = time.Date(2026, 11, 20, 15, 10, 0, 0, time.UTC)
	mine, other, adrift = uuid.New(), uuid.New(), uuid.New()
	limited             = intake.Caller{OrganizationID: uuid.New(), MemberID: uuid.New(), Limit: fleet.Limit{mine, adrift}}
	unlimited           = intake.Caller{OrganizationID: limited.OrganizationID, MemberID: limited.MemberID}
)

// house is what the doors stand on: two servers on hosts that are known to run them.
type house struct {
	samples []measurements.HostSample
	firings []alert.Firing
	as      []usecase.Actor
	asked   int // look-ups by name
	fails   error

	sizes       []int // of the calls that record firings
	firingsFail error // the second of them
}

func (h *house) doors() agents.Doors {
	return agents.New(agents.Config{
		Places: &resolve.Resolver{Fleet: h, Hosts: h}, Store: h, Commands: h, Now: func() time.Time { return receipt },
	})
}

func (h *house) Called(context.Context, uuid.UUID, []string) ([]fleet.CalledInstance, error) {
	h.asked++
	return []fleet.CalledInstance{{ID: mine, Name: "mine", Host: "db01"}, {ID: other, Name: "other", Host: "db02"}, {ID: adrift, Name: "adrift"}}, nil
}

func (h *house) DatabasesCalled(context.Context, uuid.UUID, []uuid.UUID, []string) ([]fleet.CalledDatabase, error) {
	h.asked++
	return nil, nil
}

func (*house) HostsOf(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
	return map[uuid.UUID]string{mine: "db01", other: "db02", adrift: ""}, nil
}

func (*house) DatabaseNames(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]string, error) {
	panic("an agent does not assess")
}

// Engines has an instance that was known on a host and is removed since left out.
func (h *house) Engines(context.Context, uuid.UUID, []uuid.UUID) (map[uuid.UUID]fleet.Engine, error) {
	return map[uuid.UUID]fleet.Engine{mine: fleet.PostgreSQL, other: fleet.Oracle}, nil
}

func (h *house) KnownOn(context.Context, uuid.UUID, []string) (map[string][]uuid.UUID, error) {
	return map[string][]uuid.UUID{"db01": {mine}, "db02": {other}, "both": {mine, other}, "removed": {uuid.New()}, "mine and removed": {uuid.New(), mine}}, nil
}

func (h *house) Record(_ context.Context, b measurements.Batch, _ ...watch.Sign) (measurements.Receipt, error) {
	if h.fails != nil && len(h.samples) > 0 {
		return measurements.Receipt{}, h.fails
	}
	h.samples = append(h.samples, b.Hosts...)
	return measurements.Receipt{Accepted: measurements.SampleCounts{Hosts: len(b.Hosts) - 1}, TooLate: measurements.SampleCounts{Hosts: 1}}, nil
}

// RecordFirings holds the limit as the use case does.
func (h *house) RecordFirings(_ context.Context, actor usecase.Actor, firings []alert.Firing) (dropped int, mark usecase.Mark, err error) {
	h.as, h.sizes = append(h.as, actor), append(h.sizes, len(firings))
	if h.firingsFail != nil && len(h.sizes) == 2 {
		return 0, usecase.Mark{}, h.firingsFail
	}
	for _, f := range firings {
		if actor.Limit.Allows(f.InstanceID) {
			h.firings = append(h.firings, f)
		} else {
			dropped++
		}
	}
	return dropped, usecase.Mark{Position: int64(len(h.firings))}, nil
}

// TestHostsOfALimitedToken: every form of message, every case of the rule. What is
// beyond the token is dropped and counted with all of its points; the rest is kept.
func TestHostsOfALimitedToken(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		host, instance string
		kept           bool
		on             []uuid.UUID
	}{
		"its own":                          {"db01", "mine", true, []uuid.UUID{mine}},
		"by its id":                        {"db01", mine.String(), true, []uuid.UUID{mine}},
		"its own on a host that is new":    {"new", "mine", false, nil},
		"its first host":                   {"new", "adrift", true, []uuid.UUID{adrift}},
		"another's":                        {"new", "other", false, nil},
		"nobody's":                         {"new", "nobody", false, nil},
		"unnamed, known as its own":        {"db01", "", true, nil},
		"unnamed, known as another's":      {"db02", "", false, nil},
		"unnamed, known as both's":         {"both", "", false, nil},
		"unnamed, known as nobody's":       {"new", "", false, nil},
		"unnamed, of one that is removed":  {"removed", "", false, nil},
		"unnamed, the other one is gone":   {"mine and removed", "", true, nil},
		"named nobody, known as its own":   {"db01", "nobody", true, nil},
		"named nobody, known as both's":    {"both", "nobody", false, nil},
		"its own where another's runs":     {"db02", "mine", false, nil},
		"its own where both run":           {"both", "mine", false, nil},
		"another's on its own host":        {"db01", "other", false, nil},
		"its own, where a removed one ran": {"removed", "mine", false, nil},
	} {
		for form, send := range map[string]func(agents.Doors) (*agents.HostDoor, []byte){
			"1.0": func(d agents.Doors) (*agents.HostDoor, []byte) {
				return d.RemoteWrite1, remotewritetest.V1(scraped(c.host, c.instance)...)
			},
			"2.0": func(d agents.Doors) (*agents.HostDoor, []byte) {
				return d.RemoteWrite2, remotewritetest.V2Bytes(scraped(c.host, c.instance)...)
			},
			"OTLP": func(d agents.Doors) (*agents.HostDoor, []byte) { return d.OTLPJSON, measured(c.host, c.instance) },
		} {
			h := &house{}
			door, body := send(h.doors())
			got, err := door.Take(t.Context(), limited, body)
			dropped := 0
			if !c.kept {
				dropped = 2
			}
			if err != nil || got.Received != 2 || got.Dropped[intake.Forbidden] != dropped || len(h.samples) != (2-dropped)/2 {
				t.Errorf("%s by %s: %d kept, %+v, %v", name, form, len(h.samples), got, err)
			}
			if len(h.samples) == 1 && !slices.Equal(h.samples[0].Instances, c.on) {
				t.Errorf("%s by %s: on %v", name, form, h.samples[0].Instances)
			}
			h = &house{}
			door, body = send(h.doors())
			if got, err := door.Take(t.Context(), unlimited, body); err != nil || got.Dropped[intake.Forbidden] != 0 || len(h.samples) != 1 {
				t.Errorf("%s by %s without a limit: %d kept, %+v, %v", name, form, len(h.samples), got, err)
			}
		}
	}
}

// scraped are two points of a host.
func scraped(host, instance string) (series []remotewritetest.Series) {
	labels := []string{"instance", host + ":9100"}
	if instance != "" {
		labels = append(labels, "muster_instance", instance)
	}
	for _, name := range []string{"node_memory_MemTotal_bytes", "node_memory_MemAvailable_bytes"} {
		series = append(series, remotewritetest.One(name, receipt, 1, labels...))
	}
	return series
}

// measured is the same of OpenTelemetry's collector.
func measured(host, instance string) []byte {
	text := `{"key":"host.name","value":{"stringValue":"` + host + `"}}`
	if instance != "" {
		text += `,{"key":"muster_instance","value":{"stringValue":"` + instance + `"}}`
	}
	point := fmt.Sprintf(`{"gauge":{"dataPoints":[{"timeUnixNano":"%d","asInt":"1"}]},"name":`, receipt.UnixNano())
	return []byte(`{"resourceMetrics":[{"resource":{"attributes":[` + text + `]},"scopeMetrics":[{"metrics":[` +
		point + `"system.memory.limit"},` + point + `"system.linux.memory.available"}]}]}]}`)
}

// TestHostsOfALargeMessageAreResolvedInBatches, with one look-up for each batch. A failure in the middle is
// reported with the part that was stored before.
func TestHostsOfALargeMessageAreResolvedInBatches(t *testing.T) {
	t.Parallel()
	var series []remotewritetest.Series
	for i := range 6000 {
		series = append(series, scraped(fmt.Sprint("db", i), []string{"mine", "nobody", ""}[i%3])...)
	}
	h := &house{}
	got, err := h.doors().RemoteWrite1.Take(t.Context(), unlimited, remotewritetest.V1(series...))
	want := intake.Receipt{
		Received: 12000, Dropped: map[intake.Reason]int{intake.UnknownInstance: 2000, intake.TooLate: 2},
		Recorded: map[intake.Sort]int{intake.HostSample: 5998, intake.SessionSample: 0, intake.StatementSample: 0},
	}
	if diff := cmp.Diff(want, got); err != nil || diff != "" || h.asked != 2 || len(h.samples) != 6000 || got.Refused() != 0 {
		t.Errorf("%d look-ups, %v\n%s", h.asked, err, diff)
	}
	h = &house{fails: errors.New("the database is away")}
	got, err = h.doors().RemoteWrite1.Take(t.Context(), unlimited, remotewritetest.V1(series...))
	if !errors.Is(err, h.fails) || got.Recorded[intake.HostSample] != 4999 {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestAlertsOfALimitedToken: by both routes, alerts of another instance or of none are dropped
// and counted, and no member is recorded as their author.
func TestAlertsOfALimitedToken(t *testing.T) {
	t.Parallel()
	alerts := `{"status":"firing","labels":{"alertname":"A","muster_instance":"mine"}},{"status":"firing","labels":{"alertname":"B","instance":"db01:9100"}},
		{"status":"firing","labels":{"alertname":"C","instance":"other"}},{"status":"firing","labels":{"alertname":"D","instance":"nobody"}},
		{"status":"firing","labels":{"alertname":"E"}},null`
	for name, send := range map[string]func(agents.Doors) (*agents.FiringDoor, string){
		"webhook": func(d agents.Doors) (*agents.FiringDoor, string) {
			return d.Webhook, `{"version":"4","alerts":[` + alerts + `]}`
		},
		"API": func(d agents.Doors) (*agents.FiringDoor, string) { return d.AlertmanagerAPI, `[` + alerts + `]` },
	} {
		for _, c := range []struct {
			from intake.Caller
			want []string
		}{{limited, []string{"A", "B"}}, {unlimited, []string{"A", "B", "C", "D", "E"}}} {
			h := &house{}
			door, body := send(h.doors())
			got, err := door.Take(t.Context(), c.from, []byte(body))
			var titles []string
			for _, f := range h.firings {
				titles = append(titles, f.Title)
			}
			want := map[intake.Reason]int{intake.Malformed: 1}
			if n := 5 - len(c.want); n > 0 {
				want[intake.Forbidden] = n
			}
			if err != nil || !slices.Equal(titles, c.want) || !maps.Equal(got.Dropped, want) || got.Received != 6 ||
				got.Recorded[intake.Alert] != len(c.want) || got.Mark.Position != int64(len(c.want)) || h.asked != 1 {
				t.Errorf("%s: %q, %+v after %d look-ups, %v", name, titles, got, h.asked, err)
			}
			if h.as[0].MemberID != uuid.Nil || h.as[0].Component != "ingest" {
				t.Errorf("%s: by %+v", name, h.as[0])
			}
		}
	}
}

// TestALargeMessageOfAlerts: it is written 250 alerts at a time. A part that a budget refuses
// keeps none that follows from being written; after any other error nothing more is.
func TestALargeMessageOfAlerts(t *testing.T) {
	t.Parallel()
	body := `[` + strings.Repeat(`{"labels":{"alertname":"A"}},`, 600) + `{"labels":{"alertname":"A"}}]`
	full, away := &budgets.ExhaustedError{Name: budgets.OpenAlerts}, errors.New("the database is away")
	for name, c := range map[string]struct {
		fails error
		sizes []int
		taken int
	}{
		"all of it":                 {nil, []int{250, 250, 101}, 601},
		"a part is over a budget":   {full, []int{250, 250, 101}, 351},
		"the database goes amid it": {away, []int{250, 250}, 250},
	} {
		h := &house{firingsFail: c.fails}
		got, err := h.doors().AlertmanagerAPI.Take(t.Context(), unlimited, []byte(body))
		if !errors.Is(err, c.fails) || !slices.Equal(h.sizes, c.sizes) || got.Recorded[intake.Alert] != c.taken || got.Mark.Position != int64(c.taken) {
			t.Errorf("%s: in transactions of %d, %+v, %v", name, h.sizes, got, err)
		}
	}
}

// TestNoMessage: an invalid message is refused as a whole, with the place of the fault.
func TestNoMessage(t *testing.T) {
	t.Parallel()
	d := (&house{}).doors()
	for name, take := range map[string]func(context.Context, intake.Caller, []byte) (intake.Receipt, error){
		"# is no prometheus.WriteRequest": d.RemoteWrite1.Take, "# is no io.prometheus.write.v2.Request": d.RemoteWrite2.Take,
		"# is no opentelemetry.proto.collector.metrics.v1.ExportMetricsServiceRequest": d.OTLPProtobuf.Take, "# must be an array": d.AlertmanagerAPI.Take,
		"#/version must be \"4\"": d.Webhook.Take,
	} {
		_, err := take(t.Context(), unlimited, []byte(`{"alerts":[]}`))
		var no *intake.UnreadableError
		if !errors.As(err, &no) || !strings.HasPrefix(no.Error(), name) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
