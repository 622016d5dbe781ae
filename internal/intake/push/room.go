package push

import (
	"context"
	"maps"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"muster/internal/measurements"
	"muster/internal/measurements/forecast"
	"muster/internal/measurements/room"
	"muster/internal/watch"
)

// filling is a volume as a host told it last.
type filling struct {
	key     string // of its sign
	size    room.Size
	details watch.Details
}

// rooms remembers what is looked at once an hour, because the watch judges fresh figures only. Another
// process, or this one after a restart, learns it from the next sample.
type rooms struct {
	mu    sync.Mutex
	hosts map[hostOf]*outlook
	jobs  map[uuid.UUID]failedJobs // by server
	full  map[uuid.UUID]*outlook   // of what servers tell themselves
}

// failedJobs is how many runs of jobs of a server failed, as of a time.
type failedJobs struct {
	at time.Time
	n  int
}

type hostOf struct {
	organization uuid.UUID
	host         string
}

// outlook is when the volumes of a host are full, as of a time.
type outlook struct {
	at   time.Time
	days map[string]float64 // by name; of a server, as it is called
}

// keepRoom keeps how full volumes and servers are, and adds what the watch judges of it.
func (i *Intake) keepRoom(ctx context.Context, b measurements.Batch, found *collection, received time.Time, signs []watch.Sign) ([]watch.Sign, error) {
	if err := room.Record(ctx, i.DB, b.Organization, received, b.Room); err != nil {
		return nil, err
	}
	signs = append(slices.Clip(signs), i.rooms.failedJobs(b)...)
	soon, err := i.serversFull(ctx, b)
	if err != nil {
		return nil, err
	}
	signs = append(signs, soon...)
	for _, host := range slices.Sorted(maps.Keys(found.used)) {
		at := found.told[host].At
		known, err := i.outlook(ctx, hostOf{b.Organization, host}, at, found.used[host])
		if err != nil {
			return nil, err
		}
		for _, f := range found.used[host] {
			if days, ok := known.days[f.size.Name]; ok {
				days = max(days-at.Sub(known.at).Hours()/24, 0)
				signs = append(signs, watch.VolumeFullIn(b.Organization, f.key, days, at, f.details))
			}
		}
	}
	return signs, nil
}

// failedJobs remembers how many runs of jobs failed by the looks of a batch, and has that figure of each
// server that the batch has sessions of.
func (r *rooms) failedJobs(b measurements.Batch) (signs []watch.Sign) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range b.Room {
		if r.jobs == nil {
			r.jobs = map[uuid.UUID]failedJobs{}
		}
		if delete(r.jobs, s.Instance); s.Failed != nil {
			r.jobs[s.Instance] = failedJobs{s.At, *s.Failed}
		}
	}
	newest := map[uuid.UUID]time.Time{}
	for _, s := range b.Sessions {
		if _, known := r.jobs[s.Instance]; known && s.At.After(newest[s.Instance]) {
			newest[s.Instance] = s.At
		}
	}
	for id, at := range newest {
		failed := r.jobs[id]
		if at.Sub(failed.at) > room.Fresh {
			delete(r.jobs, id)
			continue
		}
		signs = append(signs, watch.Sign{OrganizationID: b.Organization, Rule: watch.FailedJobs, InstanceID: id, Value: float64(failed.n), At: at})
	}
	return signs
}

const (
	mostDays    = 365 // the highest threshold of days until something is full
	mostFilling = 200 // volumes and tablespaces of a server that are judged, the greatest
)

// serversFull remembers when things are full that servers tell, by the looks of a batch. It has those that are full soon
// once a minute, with the figures of their server. At each look it has the others, too, so that their alerts end.
func (i *Intake) serversFull(ctx context.Context, b measurements.Batch) (signs []watch.Sign, err error) {
	add := func(instance uuid.UUID, known *outlook, at time.Time, wanted func(days float64) bool) {
		for name, days := range known.days {
			if days < watch.NotFull {
				days = max(days-at.Sub(known.at).Hours()/24, 0)
			}
			if wanted(days) {
				signs = append(signs, watch.ServerFullIn(b.Organization, instance, name, days, at))
			}
		}
	}
	for _, s := range b.Room {
		known, err := i.outlookOf(ctx, b.Organization, s.Instance, s.At)
		if err != nil {
			return nil, err
		}
		i.rooms.mu.Lock()
		if i.rooms.full == nil {
			i.rooms.full = map[uuid.UUID]*outlook{}
		}
		if last := i.rooms.full[s.Instance]; last == nil || known.at.After(last.at) {
			i.rooms.full[s.Instance] = known
		}
		i.rooms.mu.Unlock()
		add(s.Instance, known, s.At, func(days float64) bool { return days > mostDays })
	}
	newest := map[uuid.UUID]time.Time{}
	for _, s := range b.Servers {
		if s.At.After(newest[s.Instance]) {
			newest[s.Instance] = s.At
		}
	}
	for id, at := range newest {
		i.rooms.mu.Lock()
		known := i.rooms.full[id]
		if known != nil && at.Sub(known.at) > room.Fresh {
			delete(i.rooms.full, id)
			known = nil
		}
		i.rooms.mu.Unlock()
		if known != nil {
			add(id, known, at, func(days float64) bool { return days <= mostDays })
		}
	}
	return signs, nil
}

// outlookOf is when the things are full that a server tells. What it does not tell any more has no date.
func (i *Intake) outlookOf(ctx context.Context, organization, instance uuid.UUID, at time.Time) (*outlook, error) {
	hosts, err := watch.HostsOf(ctx, i.DB, organization, []uuid.UUID{instance})
	if err != nil {
		return nil, err
	}
	own := room.InstanceSubject(instance)
	hostsOf := map[string][]string{}
	for _, h := range hosts {
		hostsOf[own] = append(hostsOf[own], room.HostSubject(h.Host))
	}
	histories, err := room.Histories(ctx, i.DB, organization, append(hostsOf[own], own), at.Add(-room.Lookback), mostFilling)
	if err != nil {
		return nil, err
	}
	known := &outlook{at: at, days: map[string]float64{}}
	for _, h := range room.Distinct(histories, hostsOf) {
		if h.Subject != own || h.Kind == room.Database {
			continue
		}
		f := forecast.Of(h.Points, at)
		days, ok := daysOf(f)
		if f.Reason == forecast.Stale {
			days, ok = watch.NotFull, true
		}
		if ok {
			known.days[room.Called(h.Kind, h.Name)] = days
		}
	}
	return known, nil
}

// outlook is when the volumes of a host are full. Once an hour their sizes are kept, and the forecasts made.
func (i *Intake) outlook(ctx context.Context, of hostOf, at time.Time, volumes []filling) (*outlook, error) {
	i.rooms.mu.Lock()
	known := i.rooms.hosts[of]
	i.rooms.mu.Unlock()
	if known != nil && at.Sub(known.at) < room.Every {
		return known, nil
	}
	sizes := make([]room.Size, len(volumes))
	for n, f := range volumes {
		sizes[n] = f.size
	}
	subject := room.HostSubject(of.host)
	if err := room.RecordSizes(ctx, i.DB, of.organization, subject, at, sizes); err != nil {
		return nil, err
	}
	histories, err := room.Histories(ctx, i.DB, of.organization, []string{subject}, at.Add(-room.Lookback), room.MaxSizes)
	if err != nil {
		return nil, err
	}
	known = &outlook{at: at, days: map[string]float64{}}
	for _, h := range histories {
		if days, ok := daysOf(forecast.Of(h.Points, at)); ok {
			known.days[h.Name] = days
		}
	}
	i.rooms.mu.Lock()
	defer i.rooms.mu.Unlock()
	if i.rooms.hosts == nil {
		i.rooms.hosts = map[hostOf]*outlook{}
	}
	maps.DeleteFunc(i.rooms.hosts, func(_ hostOf, o *outlook) bool { return at.Sub(o.at) > 24*time.Hour })
	i.rooms.hosts[of] = known
	return known, nil
}

// daysOf is the figure of a forecast that the watch judges; ok is false if too little is known.
func daysOf(f forecast.Forecast) (days float64, ok bool) {
	switch f.Reason {
	case forecast.NotMeasured, forecast.NoLimit, forecast.Stale, forecast.TooShort:
		return 0, false
	case forecast.SawTooth, forecast.Step, forecast.NotGrowing, forecast.Noise, forecast.Far:
		return watch.NotFull, true
	}
	return math.Min(f.Days, watch.NotFull), true
}
