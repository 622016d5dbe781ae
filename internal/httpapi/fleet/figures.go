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
	"muster/internal/watch"
	"muster/internal/watch/status"
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
// that does not grow with the instances. A map that could not be read is nil.
type figures struct {
	states            map[uuid.UUID]assessment.TargetState
	agents            map[uuid.UUID]heartbeat.State
	statuses          map[uuid.UUID]status.Status
	alerts            map[uuid.UUID]alerts.OpenCount
	alertsUnknown     bool // alerts could not be read; an instance that is not in it has none
	scores            map[uuid.UUID]health.Score
	cpu, memory, disk map[uuid.UUID]float64 // percent
	connections       map[uuid.UUID]float64
	watched           map[string]map[uuid.UUID]float64 // of watchedFigures, in their rules' units
	days              map[uuid.UUID][]*int             // scores of each day
	firstDay, now     time.Time
}

// figuresOf reads how instances fare, but for the days of their scores (showInstances). What
// they are assessed as is of the list itself; all else is a side figure.
func (s *ServerRoutes) figuresOf(ctx context.Context, rows []fleet.Instance, side *wire.Side) (f figures, err error) {
	ids, organization := idsOf(rows), wire.Caller(ctx).Organization.ID
	f.now = s.Now().UTC()
	f.firstDay = timegrid.Day.Floor(f.now).AddDate(0, 0, 1-historyDays)
	if f.states, err = s.Servers.States(ctx, organization, ids); err != nil {
		return f, err
	}
	s.readStatuses(ctx, ids, &f, side)
	if f.agents, err = s.Agents.Of(ctx, organization, ids); side.Lacks(ctx, err, "agent") {
		f.agents = nil
	}
	if !mayReadMetrics(ctx) || len(ids) == 0 {
		return f, nil
	}
	if f.alerts, err = s.Alerts.OpenByInstance(ctx, organization, ids); side.Lacks(ctx, err, "health.openAlerts", "health.criticalAlerts") {
		f.alertsUnknown = true
	}
	if f.scores, err = s.Health.Last(ctx, organization, ids, f.now); side.Lacks(ctx, err, "health.score", "health.failedChecks") {
		f.scores = nil
	}
	for _, w := range watchedFigures() {
		side.Lacks(ctx, s.readWatched(ctx, rows, &f, w), w.name)
	}
	measured, cancel := side.Limited(ctx)
	defer cancel()
	if f.connections, err = s.connectionsOf(measured, ids, f.now); side.Lacks(ctx, err, "health.connections") {
		f.connections = nil
	}
	for _, one := range []struct {
		series measurements.Series
		into   *map[uuid.UUID]float64
		figure string
	}{{measurements.CPU, &f.cpu, "health.cpuPercent"}, {measurements.Memory, &f.memory, "health.memoryPercent"}, {measurements.Disk, &f.disk, "health.diskPercent"}} {
		if *one.into, err = s.hostsLately(measured, rows, f.now, one.series); side.Lacks(ctx, err, one.figure) {
			*one.into = nil
		}
	}
	return f, nil
}

// watchedFigure is a figure that the watch keeps.
type watchedFigure struct {
	by   string // what a list is sorted by
	rule watch.Rule
	name string
}

func watchedFigures() []watchedFigure {
	return []watchedFigure{
		{"lag", watch.ReplicationLag, "health.lagSeconds"}, {"backup", watch.BackupRPO, "health.backupAgeSeconds"}, {"full", watch.FullIn, "health.daysUntilFull"},
	}
}

// readWatched reads the figures of a rule of the watch. The age of backups is not known if all known ones are within the
// RPO and one is not known: that one may be the oldest.
func (s *ServerRoutes) readWatched(ctx context.Context, rows []fleet.Instance, f *figures, w watchedFigure) error {
	organization := wire.Caller(ctx).Organization.ID
	if f.watched == nil {
		f.watched = map[string]map[uuid.UUID]float64{}
	}
	worst, err := watch.WorstOf(ctx, s.DB, organization, idsOf(rows), w.rule, f.now.Add(-lately))
	if err != nil {
		return err
	}
	settings, err := s.Accounts.WatchRulesOf(ctx, organization)
	if err != nil {
		return err
	}
	known := make(map[uuid.UUID]float64, len(worst))
	for _, row := range rows {
		of, there := worst[row.ID]
		if there && (of.Unknown == 0 || of.Value > watch.RPO(settings, domain.Tags(row.Tags)).Minutes()) {
			known[row.ID] = of.Value
		}
	}
	f.watched[w.by] = known
	return nil
}

// mayReadMetrics says whether the caller may see figures.
func mayReadMetrics(ctx context.Context) bool {
	return wire.Caller(ctx).Can(organization.ScopeMetricsRead)
}

// troubleOf reads of instances what they are sorted by, and nothing else. Where that cannot be
// read, it is known of none of them.
func (s *ServerRoutes) troubleOf(ctx context.Context, rows []fleet.Instance, by string, side *wire.Side) (f figures, err error) {
	ids, organization := idsOf(rows), wire.Caller(ctx).Organization.ID
	f.now = s.Now().UTC()
	limited, cancel := side.Limited(ctx)
	defer cancel()
	switch by {
	case "alerts":
		f.alerts, err = s.Alerts.OpenByInstance(ctx, organization, ids)
		f.alertsUnknown = err != nil
	case "score":
		f.scores, err = s.Health.Last(ctx, organization, ids, f.now)
	case "cpu":
		f.cpu, err = s.hostsLately(limited, rows, f.now, measurements.CPU)
	case "disk":
		f.disk, err = s.hostsLately(limited, rows, f.now, measurements.Disk)
	case "connections":
		f.connections, err = s.connectionsOf(limited, ids, f.now)
	case "lag", "backup", "full":
		all := watchedFigures()
		err = s.readWatched(ctx, rows, &f, all[slices.IndexFunc(all, func(w watchedFigure) bool { return w.by == by })])
	default: // lastSeenAt
		if f.states, err = s.Servers.States(ctx, organization, ids); err != nil {
			return f, err
		}
		f.statuses, err = status.Of(ctx, s.DB, organization, ids, f.now)
	}
	side.Lacks(ctx, err, "sort")
	return f, nil
}

func idsOf(rows []fleet.Instance) []uuid.UUID {
	return wire.List(rows, func(row fleet.Instance) uuid.UUID { return row.ID })
}

// readStatuses reads whether instances are up; where that cannot be read, it is not known.
func (s *ServerRoutes) readStatuses(ctx context.Context, ids []uuid.UUID, f *figures, side *wire.Side) {
	of, err := status.Of(ctx, s.DB, wire.Caller(ctx).Organization.ID, ids, f.now)
	if !side.Lacks(ctx, err, "status", "statusSince", "triedAt", "parts", "lastSeenAt", "health.sampledAt") {
		f.statuses = of
		return
	}
	missing := side.Unavailable()
	last := missing[len(missing)-1]
	why := status.Reason{Code: last.Code, Sentence: last.Sentence}
	f.statuses = make(map[uuid.UUID]status.Status, len(ids))
	for _, id := range ids {
		f.statuses[id] = status.Status{State: status.Unknown, Reason: &why}
	}
}

// hostsLately reads what a series of the instances' hosts is like, by instance.
func (s *ServerRoutes) hostsLately(ctx context.Context, rows []fleet.Instance, now time.Time, series measurements.Series) (map[uuid.UUID]float64, error) {
	hosts := measurements.HostScope{Scope: domain.Scope{Filtered: true, Instances: idsOf(rows)}}
	for _, row := range rows {
		if row.Host != "" {
			hosts.Names = append(hosts.Names, row.Host)
		}
	}
	span := measurements.SpanOf(now.Add(-lately), now, now)
	organization := wire.Caller(ctx).Organization.ID
	by := measurements.ByHost
	var mounted map[string][]string
	if series == measurements.Disk {
		by = measurements.ByVolume
		var err error
		if mounted, err = s.Hosts.Mounted(ctx, organization, hosts, span.From); err != nil {
			return nil, err
		}
	}
	found, err := s.Tiles.UtilizationContributors(ctx, organization, hosts, span, measurements.Breakdown{Series: series, By: by, Limit: everyone})
	if err != nil {
		return nil, err
	}
	byHost := make(map[string]float64, len(found.Items))
	for _, item := range found.Items {
		if now, known := mounted[item.Host]; known && !slices.Contains(now, item.Mount) {
			continue // it was unmounted since
		}
		byHost[item.Host] = max(byHost[item.Host], item.Value)
	}
	on, err := s.runningOn(ctx, rows, byHost)
	return highest(byHost, on), err
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

// runningOn says which of the instances run on the hosts of a figure: by what samples say,
// and by name.
func (s *ServerRoutes) runningOn(ctx context.Context, rows []fleet.Instance, byHost map[string]float64) (map[string][]uuid.UUID, error) {
	on, err := s.Hosts.InstancesOn(ctx, wire.Caller(ctx).Organization.ID, slices.Collect(maps.Keys(byHost)))
	if err != nil {
		return nil, err
	}
	byKey := map[string][]string{} // samples from before hosts had keys are of hosts as their senders spelled them
	for host := range byHost {
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
	shown := &api.InstanceFigures{CpuPercent: rounded(f.cpu, id), MemoryPercent: rounded(f.memory, id), DiskPercent: rounded(f.disk, id)}
	if !f.alertsUnknown {
		open := f.alerts[id]
		shown.OpenAlerts, shown.CriticalAlerts = &open.Open, &open.Critical
	}
	if f.days != nil {
		history := f.days[id]
		if history == nil {
			history = make([]*int, historyDays)
		}
		shown.ScoreHistory = &history
	}
	if score, ok := f.scores[id]; ok {
		shown.Score, shown.FailedChecks = score.Score, &score.Failed
	}
	if n, ok := f.connections[id]; ok {
		connections := int(n)
		shown.Connections = &connections
	}
	shown.LagSeconds, shown.DaysUntilFull = rounded(f.watched["lag"], id), rounded(f.watched["full"], id)
	if minutes, ok := f.watched["backup"][id]; ok {
		age := int64(minutes * time.Minute.Seconds())
		shown.BackupAgeSeconds = &age
	}
	shown.SampledAt = wire.UTC(f.statuses[id].LastSeen)
	return shown
}

// rounded is a figure; nil: it is not known.
func rounded(of map[uuid.UUID]float64, id uuid.UUID) *float64 {
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
		return 1e6*float64(f.alerts[id].Critical) + float64(f.alerts[id].Open), !f.alertsUnknown
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
	case "lag", "backup", "full":
		value, ok = f.watched[by][id]
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
