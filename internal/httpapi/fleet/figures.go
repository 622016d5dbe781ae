package fleet

import (
	"cmp"
	"context"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	domain "muster/domain/fleet"
	"muster/domain/organization"
	"muster/domain/timegrid"
	"muster/internal/assessment"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/internal/watch"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/health"
)

// Hosts says what runs on hosts; *pgstore.Store is one.
type Hosts interface {
	// InstancesOn goes by the newest samples of hosts that say what runs on them.
	InstancesOn(ctx context.Context, organization uuid.UUID, names []string) (map[string][]uuid.UUID, error)
}

// lately is how far back the figures of hosts go, and historyDays those of scores.
const (
	lately      = 15 * time.Minute
	historyDays = 30
)

// everyone is a limit that no organization has as many hosts or instances as.
const everyone = math.MaxInt32

// figures are how the instances of a list fare. They are read in a number of statements
// that does not grow with the instances.
type figures struct {
	states               map[uuid.UUID]assessment.TargetState
	heard                map[uuid.UUID]time.Time
	alerts               map[uuid.UUID]alerts.OpenCount
	scores               map[uuid.UUID]health.Score
	cpu, memory, disk    map[uuid.UUID]float64 // percent
	connections          map[uuid.UUID]float64
	days                 map[uuid.UUID][]health.Score
	firstDay, today, now time.Time
}

// figuresOf reads how instances fare. The days of their scores are read for a page (showFaring).
func (s *ServerRoutes) figuresOf(ctx context.Context, rows []fleet.Instance) (f figures, err error) {
	ids := wire.List(rows, func(row fleet.Instance) uuid.UUID { return row.ID })
	organization := wire.Caller(ctx).Organization.ID
	f.now = s.Now().UTC()
	f.today = timegrid.Day.Floor(f.now)
	f.firstDay = f.today.AddDate(0, 0, 1-historyDays)
	if f.states, err = s.Servers.States(ctx, organization, ids); err != nil {
		return f, err
	}
	if f.heard, err = watch.LastHeard(ctx, s.DB, organization, ids); err != nil || !mayReadMetrics(ctx) || len(ids) == 0 {
		return f, err
	}
	if f.alerts, err = s.Alerts.OpenByInstance(ctx, organization, ids); err != nil {
		return f, err
	}
	if f.scores, err = s.Health.Last(ctx, organization, ids, f.now); err != nil {
		return f, err
	}
	if err := s.measuredLately(ctx, rows, ids, &f); err != nil {
		return f, err
	}
	return f, nil
}

// mayReadMetrics says whether the caller may see figures.
func mayReadMetrics(ctx context.Context) bool {
	return wire.Caller(ctx).Can(organization.ScopeMetricsRead)
}

// measuredLately reads what hosts and connections are like.
func (s *ServerRoutes) measuredLately(ctx context.Context, rows []fleet.Instance, ids []uuid.UUID, f *figures) error {
	tenant := wire.Caller(ctx).Organization.ID
	scope := domain.Scope{Filtered: true, Instances: ids}
	hosts := measurements.HostScope{Scope: scope}
	for _, row := range rows {
		if row.Host != "" {
			hosts.Names = append(hosts.Names, row.Host)
		}
	}
	span := measurements.SpanOf(f.now.Add(-lately), f.now, f.now)
	of := func(series measurements.Series, by measurements.Key) (map[string]float64, error) {
		found, err := s.Tiles.UtilizationContributors(ctx, tenant, hosts, span, measurements.Breakdown{Series: series, By: by, Limit: everyone})
		highest := map[string]float64{}
		for _, item := range found.Items {
			highest[item.Host] = max(highest[item.Host], item.Value)
		}
		return highest, err
	}
	cpu, err := of(measurements.CPU, measurements.ByHost)
	if err != nil {
		return err
	}
	memory, err := of(measurements.Memory, measurements.ByHost)
	if err != nil {
		return err
	}
	disk, err := of(measurements.Disk, measurements.ByVolume)
	if err != nil {
		return err
	}
	on, err := s.runningOn(ctx, rows, cpu, memory, disk)
	if err != nil {
		return err
	}
	f.cpu, f.memory, f.disk = highest(cpu, on), highest(memory, on), highest(disk, on)
	databases, err := s.Fleet.DatabasesIn(ctx, tenant, scope)
	if err != nil {
		return err
	}
	open, err := s.Tiles.ConnectionContributors(ctx, tenant, databases,
		measurements.Breakdown{Series: measurements.ConnectionsTotal, By: measurements.ByInstance, Limit: everyone, Zeros: true}, f.now)
	f.connections = map[uuid.UUID]float64{}
	for _, item := range open.Items {
		f.connections[item.Instance] = item.Value
	}
	return err
}

// runningOn says which of the instances run on the hosts of figures: by what samples say,
// and by name.
func (s *ServerRoutes) runningOn(ctx context.Context, rows []fleet.Instance, figures ...map[string]float64) (map[string][]uuid.UUID, error) {
	hosts := map[string]bool{}
	for _, byHost := range figures {
		for host := range byHost {
			hosts[host] = true
		}
	}
	on, err := s.Hosts.InstancesOn(ctx, wire.Caller(ctx).Organization.ID, slices.Collect(maps.Keys(hosts)))
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if hosts[row.Host] {
			on[row.Host] = append(on[row.Host], row.ID)
		}
	}
	return on, nil
}

// highest are the figures of hosts by what runs on them; of several hosts the highest counts.
func highest(byHost map[string]float64, on map[string][]uuid.UUID) map[uuid.UUID]float64 {
	figures := map[uuid.UUID]float64{}
	for host, value := range byHost {
		for _, id := range on[host] {
			if known, ok := figures[id]; !ok || value > known {
				figures[id] = value
			}
		}
	}
	return figures
}

// seen is when an instance was seen or heard from last; nil: never.
func (f figures) seen(id uuid.UUID) *time.Time {
	last := f.states[id].LastSeenAt
	if at, ok := f.heard[id]; ok && (last == nil || at.After(*last)) {
		last = &at
	}
	return last
}

// show is how an instance fares, as a list shows it.
func (f figures) show(id uuid.UUID) *api.InstanceFigures {
	shown := &api.InstanceFigures{
		OpenAlerts: f.alerts[id].Open, CriticalAlerts: f.alerts[id].Critical,
		CpuPercent: percent(f.cpu, id), MemoryPercent: percent(f.memory, id), DiskPercent: percent(f.disk, id),
		ScoreHistory: everyDay(f.days[id], f.firstDay, f.today),
	}
	if score, ok := f.scores[id]; ok {
		shown.Score, shown.FailedChecks = score.Score, &score.Failed
	}
	if n, ok := f.connections[id]; ok {
		connections := int(n)
		shown.Connections = &connections
	}
	if at, ok := f.heard[id]; ok {
		shown.SampledAt = wire.UTC(&at)
	}
	return shown
}

func percent(of map[uuid.UUID]float64, id uuid.UUID) *float64 {
	v, ok := of[id]
	if !ok {
		return nil
	}
	return wire.Rounded(v, wire.Thousandths)
}

// trouble is what a list is sorted by; ok is false where it is not known.
func (f figures) trouble(by string, id uuid.UUID) (value float64, ok bool) {
	switch by {
	case "alerts": // no server has a million alerts that are not critical
		return 1e6*float64(f.alerts[id].Critical) + float64(f.alerts[id].Open), true
	case "score":
		if score := f.scores[id].Score; score != nil {
			return float64(*score), true
		}
		return 0, false
	case "cpu":
		value, ok = f.cpu[id]
	case "disk":
		value, ok = f.disk[id]
	case "connections":
		value, ok = f.connections[id]
	default: // lastSeenAt
		if at := f.seen(id); at != nil {
			return float64(at.UnixMicro()), true
		}
	}
	return value, ok
}

// byTrouble sorts instances; what is not known comes last either way, and equal ones
// are by name.
func (f figures) byTrouble(rows []fleet.Instance, by string, descending bool) {
	slices.SortFunc(rows, func(a, b fleet.Instance) int {
		x, known := f.trouble(by, a.ID)
		y, also := f.trouble(by, b.ID)
		order := cmp.Compare(x, y)
		if descending {
			order = -order
		}
		if known != also {
			if order = 1; known {
				order = -1
			}
		}
		return cmp.Or(order, strings.Compare(strings.ToLower(a.Name), strings.ToLower(b.Name)), slices.Compare(a.ID[:], b.ID[:]))
	})
}
