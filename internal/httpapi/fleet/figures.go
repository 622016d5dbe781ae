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
	"muster/internal/intake/heartbeat"
	"muster/internal/measurements"
	"muster/internal/status"
	"muster/projections/alerts"
	"muster/projections/fleet"
	"muster/projections/health"
)

// Hosts says what runs on hosts; *pgstore.Store is one.
type Hosts interface {
	// InstancesOn goes by the newest samples of hosts that say what runs on them.
	InstancesOn(ctx context.Context, organization uuid.UUID, names []string) (map[string][]uuid.UUID, error)
	// Mounted returns the mounts in the newest sample since a time of each host in scope that
	// names any; a host without one is missing.
	Mounted(ctx context.Context, organization uuid.UUID, scope measurements.HostScope, since time.Time) (map[string][]string, error)
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
	agents               map[uuid.UUID]heartbeat.State
	statuses             map[uuid.UUID]status.Status
	alerts               map[uuid.UUID]alerts.OpenCount
	scores               map[uuid.UUID]health.Score
	cpu, memory, disk    map[uuid.UUID]float64 // percent
	connections          map[uuid.UUID]float64
	days                 map[uuid.UUID][]health.Score
	firstDay, today, now time.Time
}

// figuresOf reads how instances fare, but for the days of their scores (showInstances).
func (s *ServerRoutes) figuresOf(ctx context.Context, rows []fleet.Instance) (f figures, err error) {
	ids, organization := idsOf(rows), wire.Caller(ctx).Organization.ID
	f.now = s.Now().UTC()
	f.today = timegrid.Day.Floor(f.now)
	f.firstDay = f.today.AddDate(0, 0, 1-historyDays)
	if f.agents, err = s.Agents.Of(ctx, organization, ids); err != nil {
		return f, err
	}
	if err := s.seenAndHeard(ctx, ids, &f); err != nil || !mayReadMetrics(ctx) || len(ids) == 0 {
		return f, err
	}
	if f.alerts, err = s.Alerts.OpenByInstance(ctx, organization, ids); err != nil {
		return f, err
	}
	if f.scores, err = s.Health.Last(ctx, organization, ids, f.now); err != nil {
		return f, err
	}
	of, err := s.hostsLately(ctx, rows, f.now, measurements.CPU, measurements.Memory, measurements.Disk)
	if err != nil {
		return f, err
	}
	f.cpu, f.memory, f.disk = of[0], of[1], of[2]
	f.connections, err = s.connectionsOf(ctx, ids, f.now)
	return f, err
}

// mayReadMetrics says whether the caller may see figures.
func mayReadMetrics(ctx context.Context) bool {
	return wire.Caller(ctx).Can(organization.ScopeMetricsRead)
}

// troubleOf reads of instances what they are sorted by, and nothing else.
func (s *ServerRoutes) troubleOf(ctx context.Context, rows []fleet.Instance, by string) (f figures, err error) {
	ids, organization := idsOf(rows), wire.Caller(ctx).Organization.ID
	f.now = s.Now().UTC()
	var of []map[uuid.UUID]float64
	switch by {
	case "alerts":
		f.alerts, err = s.Alerts.OpenByInstance(ctx, organization, ids)
	case "score":
		f.scores, err = s.Health.Last(ctx, organization, ids, f.now)
	case "cpu":
		if of, err = s.hostsLately(ctx, rows, f.now, measurements.CPU); err == nil {
			f.cpu = of[0]
		}
	case "disk":
		if of, err = s.hostsLately(ctx, rows, f.now, measurements.Disk); err == nil {
			f.disk = of[0]
		}
	case "connections":
		f.connections, err = s.connectionsOf(ctx, ids, f.now)
	default: // lastSeenAt
		err = s.seenAndHeard(ctx, ids, &f)
	}
	return f, err
}

func idsOf(rows []fleet.Instance) []uuid.UUID {
	return wire.List(rows, func(row fleet.Instance) uuid.UUID { return row.ID })
}

// seenAndHeard reads how instances are, and when they were seen.
func (s *ServerRoutes) seenAndHeard(ctx context.Context, ids []uuid.UUID, f *figures) (err error) {
	organization := wire.Caller(ctx).Organization.ID
	if f.states, err = s.Servers.States(ctx, organization, ids); err != nil {
		return err
	}
	f.statuses, err = status.Of(ctx, s.DB, organization, ids, f.now)
	return err
}

// hostsLately reads what series of the instances' hosts are like, each by instance.
func (s *ServerRoutes) hostsLately(ctx context.Context, rows []fleet.Instance, now time.Time, series ...measurements.Series) ([]map[uuid.UUID]float64, error) {
	hosts := measurements.HostScope{Scope: domain.Scope{Filtered: true, Instances: idsOf(rows)}}
	for _, row := range rows {
		if row.Host != "" {
			hosts.Names = append(hosts.Names, row.Host)
		}
	}
	span := measurements.SpanOf(now.Add(-lately), now, now)
	byHost := make([]map[string]float64, len(series))
	organization := wire.Caller(ctx).Organization.ID
	for i, one := range series {
		by := measurements.ByHost
		var mounted map[string][]string
		if one == measurements.Disk {
			by = measurements.ByVolume
			var err error
			if mounted, err = s.Hosts.Mounted(ctx, organization, hosts, span.From); err != nil {
				return nil, err
			}
		}
		found, err := s.Tiles.UtilizationContributors(ctx, organization, hosts, span, measurements.Breakdown{Series: one, By: by, Limit: everyone})
		if err != nil {
			return nil, err
		}
		byHost[i] = make(map[string]float64, len(found.Items))
		for _, item := range found.Items {
			if now, known := mounted[item.Host]; known && !slices.Contains(now, item.Mount) {
				continue // it was unmounted since
			}
			byHost[i][item.Host] = max(byHost[i][item.Host], item.Value)
		}
	}
	on, err := s.runningOn(ctx, rows, byHost...)
	if err != nil {
		return nil, err
	}
	byInstance := make([]map[uuid.UUID]float64, len(series))
	for i, of := range byHost {
		byInstance[i] = highest(of, on)
	}
	return byInstance, nil
}

// connectionsOf reads how many connections instances have.
func (s *ServerRoutes) connectionsOf(ctx context.Context, ids []uuid.UUID, now time.Time) (map[uuid.UUID]float64, error) {
	organization := wire.Caller(ctx).Organization.ID
	databases, err := s.Fleet.DatabasesIn(ctx, organization, domain.Scope{Filtered: true, Instances: ids})
	if err != nil {
		return nil, err
	}
	open, err := s.Tiles.ConnectionContributors(ctx, organization, databases,
		measurements.Breakdown{Series: measurements.ConnectionsTotal, By: measurements.ByInstance, Limit: everyone, Zeros: true}, now)
	connections := make(map[uuid.UUID]float64, len(open.Items))
	for _, item := range open.Items {
		connections[item.Instance] = item.Value
	}
	return connections, err
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
	byKey := map[string][]string{} // samples from before hosts had keys are of hosts as their senders spelled them
	for host := range hosts {
		byKey[domain.HostKey(host)] = append(byKey[domain.HostKey(host)], host)
	}
	for _, row := range rows {
		for _, host := range byKey[domain.HostKey(row.Host)] {
			on[host] = append(on[host], row.ID)
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

// seen is when a source last reached the engine of an instance; nil: never.
func (f figures) seen(id uuid.UUID) *time.Time {
	last := f.states[id].LastSeenAt
	if at := f.statuses[id].LastSeen; at != nil && (last == nil || at.After(*last)) {
		last = at
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
	shown.SampledAt = wire.UTC(f.statuses[id].LastSeen)
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
