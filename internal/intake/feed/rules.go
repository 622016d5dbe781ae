package feed

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/commands/inventory"
	"muster/commands/usecase"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/domain/rule"
	"muster/internal/measurements"
	"muster/internal/measurements/blocking"
	"muster/internal/measurements/replication"
	"muster/internal/measurements/room"
)

// Bounds of what a sample may say, as openapi.yaml has them.
const (
	maxSampleAhead   = 5 * time.Minute // a sender's clock may be this far ahead
	maxHostInstances = 100
	maxVolumes       = 300
	maxWaits         = 300
	maxActivity      = 1000
	maxHostName      = 255     // characters
	maxMount         = 255     // bytes: as many as an alert can carry
	maxDeltas        = 100_000 // statements of one sample
	maxText          = 1 << 20 // characters, of a statement's text
	maxKey           = 200     // characters, of a statement's key and the name of a wait
	maxCount         = 1 << 40 // a float64 has all of them
	maxMilliseconds  = 1e15
	minInterval      = 0.001
	maxInterval      = 7 * 24 * 60 * 60
	sessionInterval  = 10 * time.Second // where it is left out
	maxBroken        = usecase.MaxBroken
)

// readItems makes a batch of items whose places were looked up, or says which rules
// they break: all of them, up to maxBroken. Only items that break one are read again to say
// where: to make pointers took four fifths of reading 800 deltas, 0.8 ms of a core.
func readItems(items Items, f found, now time.Time) (measurements.Batch, error) {
	r := rules{latest: now.Add(maxSampleAhead)}
	b := r.read(items, f)
	if len(r.broken) == 0 {
		return b, nil
	}
	r.broken, r.tells = nil, true
	r.read(items, f)
	return measurements.Batch{}, r.err()
}

func (r *rules) read(items Items, f found) (b measurements.Batch) {
	for i, h := range items.Hosts {
		b.Hosts = append(b.Hosts, r.host(r.item("#/hosts/", i), h, f.hosts[i]))
	}
	for i, sample := range items.Sessions {
		b.Sessions = append(b.Sessions, r.sessions(r.item("#/sessions/", i), sample, f.sessions[i]))
	}
	for i, sample := range items.Statements {
		b.Statements = append(b.Statements, r.statements(r.item("#/statements/", i), sample, f.statements[i]))
	}
	for i, sample := range items.Blocking {
		b.Blocking = append(b.Blocking, r.blocking(r.item("#/blocking/", i), sample, f.blocking[i].Instance))
	}
	for i, sample := range items.Servers {
		b.Servers = append(b.Servers, r.server(r.item("#/servers/", i), sample, f.servers[i]))
	}
	for i, state := range items.Replication {
		b.Replication = append(b.Replication, r.replication(r.item("#/replication/", i), state, f.replication[i].Instance))
	}
	for i, look := range items.Backups {
		b.Backups = append(b.Backups, r.backupLook(r.item("#/backups/", i), look, f.looks[i]))
	}
	for i, state := range items.Room {
		b.Room = append(b.Room, r.room(r.item("#/room/", i), state, f.room[i].Instance))
	}
	return b
}

// rules reads samples and gathers what is wrong with them.
type rules struct {
	latest time.Time // later times are in the future
	tells  bool      // the place of a fault, which is not needed for valid items
	broken []rule.Broken
}

// item is the pointer to an entry of a list; empty if errors are not reported.
func (r *rules) item(list string, i int) string {
	if !r.tells {
		return ""
	}
	return list + strconv.Itoa(i)
}

func (r *rules) breaks(pointer, code, detail string) {
	if len(r.broken) < maxBroken {
		r.broken = append(r.broken, rule.Broken{Pointer: pointer, Code: code, Detail: detail})
	}
}

func (r *rules) err() error {
	first := r.broken[0]
	detail := first.Pointer + " " + first.Detail + "."
	if n := len(r.broken); n >= maxBroken {
		detail = fmt.Sprintf("At least %d rules are broken; errors names these.", n)
	} else if n > 1 {
		detail = fmt.Sprintf("%d rules are broken; errors names them.", n)
	}
	return &usecase.RuleError{Code: first.Code, Detail: detail, Fields: r.broken}
}

func (r *rules) host(at string, h HostItem, on []uuid.UUID) measurements.HostSample {
	if n := utf8.RuneCountInString(h.Host); n < 1 || n > maxHostName {
		r.breaks(at+"/host", "out_of_range", fmt.Sprintf("must be 1 to %d characters", maxHostName))
	} else if !printable.Name(h.Host) {
		r.breaks(at+"/host", "invalid_name", printable.Rule)
	}
	sample := measurements.HostSample{
		Host: h.Host, At: r.time(at+"/at", h.At),
		CPUPercent: r.percent(at+"/cpuPercent", h.CPUPercent), MemoryPercent: r.percent(at+"/memoryPercent", h.MemoryPercent),
	}
	if h.CPUPercent == nil && h.MemoryPercent == nil && h.Volumes == nil {
		r.breaks(at, "out_of_range", "must have at least one of cpuPercent, memoryPercent and volumes")
	}
	if r.atMost(at+"/instances", len(h.Instances), maxHostInstances) {
		sample.Instances = r.instances(at+"/instances/", on)
	}
	if r.atMost(at+"/volumes", len(h.Volumes), maxVolumes) {
		sample.Volumes = r.volumes(at+"/volumes/", h.Volumes)
	}
	return sample
}

// instances are those of a host, each once. A sender who names none says so: it is not
// as if there were no list.
func (r *rules) instances(at string, on []uuid.UUID) []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(on))
	for i, id := range on {
		if id == uuid.Nil {
			r.unknownInstance(at + strconv.Itoa(i))
		} else if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	return ids
}

func (r *rules) volumes(at string, all []VolumeItem) (volumes []measurements.Volume) {
	mounts := make(map[string]bool, len(all))
	for i, v := range all {
		at := r.item(at, i)
		if len(v.Mount) < 1 || len(v.Mount) > maxMount {
			r.breaks(at+"/mount", "out_of_range", fmt.Sprintf("must be 1 to %d bytes", maxMount))
		} else if !printable.Name(v.Mount) {
			r.breaks(at+"/mount", "invalid_name", printable.Rule)
		}
		r.once(at+"/mount", v.Mount, mounts)
		volumes = append(volumes, measurements.Volume{Mount: v.Mount, UsedPercent: r.percent(at+"/usedPercent", &v.UsedPercent)})
	}
	return volumes
}

func (r *rules) sessions(at string, s SessionItem, on inventory.Place) measurements.SessionSample {
	sample := measurements.SessionSample{
		At: r.time(at+"/at", s.At), Interval: sessionInterval,
		Active: r.count(at+"/active", s.Active), Idle: r.count(at+"/idle", s.Idle), Waiting: r.count(at+"/waiting", s.Waiting),
		IdleInTransaction: r.count(at+"/idleInTransaction", s.IdleInTransaction), Other: r.count(at+"/other", s.Other),
		Waits: make(map[string]int64, len(s.Waits)),
	}
	if s.IntervalSeconds != nil {
		sample.Interval = r.interval(at+"/intervalSeconds", *s.IntervalSeconds)
	}
	sample.Instance, sample.Database = r.known(at, on)
	if !r.atMost(at+"/waits", len(s.Waits), maxWaits) {
		return sample
	}
	for _, name := range slices.Sorted(maps.Keys(s.Waits)) {
		pointer := at + "/waits/" + rule.Escape(name)
		r.name(pointer, name)
		sample.Waits[name] = r.count(pointer, s.Waits[name])
	}
	if s.Deadlocks != nil {
		n := r.count(at+"/deadlocks", *s.Deadlocks)
		sample.Deadlocks = &n
	}
	if !r.atMost(at+"/activity", len(s.Activity), maxActivity) {
		return sample
	}
	for i, a := range s.Activity {
		at := r.item(at+"/activity/", i)
		a.Doing.Sessions = r.count(at+"/sessions", a.Sessions)
		if utf8.RuneCountInString(a.Statement) > maxKey {
			r.breaks(at+"/statement", "out_of_range", fmt.Sprintf("must be at most %d characters", maxKey))
		}
		if (a.State == measurements.OnCPU) != (a.Wait == "") {
			r.breaks(at+"/wait", "out_of_range", "is for sessions that wait, and for all of them")
		}
		sample.Doing = append(sample.Doing, a.Doing)
	}
	return sample
}

func (r *rules) statements(at string, s StatementItem, on inventory.Place) measurements.StatementSample {
	sample := measurements.StatementSample{
		At: r.time(at+"/at", s.At), Interval: r.interval(at+"/intervalSeconds", s.IntervalSeconds),
		BusyMs:     r.optional(at+"/busyMs", s.BusyMs, maxMilliseconds),
		Statements: make([]measurements.Statement, 0, len(s.Statements)),
	}
	sample.Instance, sample.Database = r.known(at, on)
	if !r.atMost(at+"/statements", len(s.Statements), maxDeltas) {
		return sample
	}
	keys := make(map[string]bool, len(s.Statements))
	for i, statement := range s.Statements {
		at := r.item(at+"/statements/", i)
		r.name(at+"/key", statement.Key)
		r.once(at+"/key", statement.Key, keys)
		if statement.Text != nil && utf8.RuneCountInString(*statement.Text) > maxText {
			r.breaks(at+"/text", "out_of_range", fmt.Sprintf("must be at most %d characters", maxText))
		}
		sample.Statements = append(sample.Statements, measurements.Statement{
			Key: statement.Key, Calls: r.count(at+"/calls", statement.Calls),
			TotalMs: r.number(at+"/totalMs", statement.TotalMs, 0, maxMilliseconds),
			MaxMs:   r.optional(at+"/maxMs", statement.MaxMs, maxMilliseconds),
			Own:     statement.Own != nil && *statement.Own, RanBefore: statement.RanBefore != nil && *statement.RanBefore,
		})
	}
	return sample
}

// blocking reads who waits for whom. Names are a server's: package blocking cleans and cuts them.
func (r *rules) blocking(at string, s BlockingItem, on uuid.UUID) blocking.Sample {
	if on == uuid.Nil {
		r.unknownInstance(at + "/instance")
	}
	sample := blocking.Sample{
		Instance: on, Advisory: s.Advisory, At: r.time(at+"/at", s.At), Interval: r.interval(at+"/intervalSeconds", s.IntervalSeconds),
		Nodes: s.Nodes, Omitted: s.Omitted, End: s.End, Deadlock: s.Deadlock,
	}
	if !r.atMost(at+"/sessions", len(s.Nodes), blocking.MaxNodes) {
		return sample
	}
	sessions := make(map[string]bool, len(s.Nodes))
	for i, n := range s.Nodes {
		at := r.item(at+"/sessions/", i)
		if n.Session == "" {
			r.breaks(at+"/session", "out_of_range", "must not be empty")
		}
		r.once(at+"/session", n.Session, sessions)
		r.atMost(at+"/waitsFor", len(n.For), blocking.MaxNodes)
		if len(n.For) > 0 && n.Waits == nil {
			r.breaks(at+"/waitsSince", "out_of_range", "is required with waitsFor")
		}
		if utf8.RuneCountInString(n.Statement) > maxText {
			r.breaks(at+"/statement", "out_of_range", fmt.Sprintf("must be at most %d characters", maxText))
		}
	}
	return sample
}

// replication reads who follows whom. Package replication cleans and cuts the names.
func (r *rules) replication(at string, s replication.State, on uuid.UUID) replication.State {
	if on == uuid.Nil {
		r.unknownInstance(at + "/instance")
	}
	s.Instance, s.At = on, r.time(at+"/at", s.At)
	return s
}

// room reads how full a server is. Package room cleans and cuts the names.
func (r *rules) room(at string, s room.State, on uuid.UUID) room.State {
	if on == uuid.Nil {
		r.unknownInstance(at + "/instance")
	}
	s.Instance, s.At = on, r.time(at+"/at", s.At)
	return s
}

// known checks that the place exists.
func (r *rules) known(at string, on inventory.Place) (instance, database uuid.UUID) {
	if on.Instance == uuid.Nil {
		r.unknownInstance(at + "/instance")
	} else if on.Database == uuid.Nil {
		r.breaks(at+"/database", "unknown_database", "is no database of that instance")
	}
	return on.Instance, on.Database
}

func (r *rules) unknownInstance(pointer string) {
	r.breaks(pointer, "unknown_instance", "is no instance of this organization")
}

// time is a time as PostgreSQL keeps it.
func (r *rules) time(pointer string, at time.Time) time.Time {
	switch {
	case at.After(r.latest):
		r.breaks(pointer, "time_in_future", "lies more than 5 minutes in the future")
	case at.Unix() < 0:
		r.breaks(pointer, "out_of_range", "lies before 1970")
	}
	return instant.Cut(at)
}

// number reads a text in the form of a number; beyond the range of a float64 it is infinite.
func (r *rules) number(pointer string, n json.Number, least, most float64) float64 {
	v, _ := n.Float64()
	if v < least || v > most {
		r.breaks(pointer, "out_of_range", fmt.Sprintf("must be %s to %s", plainly(least), plainly(most)))
	}
	return v
}

func plainly(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (r *rules) optional(pointer string, n *json.Number, most float64) *float64 {
	if n == nil {
		return nil
	}
	v := r.number(pointer, *n, 0, most)
	return &v
}

func (r *rules) percent(pointer string, n *json.Number) *float64 {
	return r.optional(pointer, n, 100)
}

func (r *rules) count(pointer string, n json.Number) int64 {
	return int64(r.number(pointer, n, 0, maxCount))
}

func (r *rules) interval(pointer string, n json.Number) time.Duration {
	return time.Duration(r.number(pointer, n, minInterval, maxInterval) * float64(time.Second))
}

// name is the key of a statement, or of a wait, which is a member's name: there U+0000
// has not been looked for yet.
func (r *rules) name(pointer, name string) {
	if n := utf8.RuneCountInString(name); n < 1 || n > maxKey || strings.ContainsRune(name, 0) {
		r.breaks(pointer, "out_of_range", fmt.Sprintf("must be 1 to %d characters, none of them U+0000", maxKey))
	} else if !printable.Name(name) {
		r.breaks(pointer, "invalid_name", printable.Rule)
	}
}

func (r *rules) once(pointer, key string, seen map[string]bool) {
	if seen[key] {
		r.breaks(pointer, "duplicate_key", "is in this sample twice")
	}
	seen[key] = true
}

func (r *rules) atMost(pointer string, n, most int) bool {
	if n > most {
		r.breaks(pointer, "out_of_range", fmt.Sprintf("has %d entries; at most %d are allowed", n, most))
	}
	return n <= most
}
