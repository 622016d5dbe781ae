package httpapi

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

	"muster/commands"
	"muster/domain/instant"
	"muster/domain/legible"
	"muster/internal/httpapi/api"
	"muster/internal/httpapi/wire"
	"muster/internal/measurements"
	"muster/projections/fleet"
)

// Bounds of what a sample may say, as openapi.yaml has them.
const (
	maxSamples       = 10_000
	maxSampleAhead   = 5 * time.Minute // a sender's clock may be this far ahead
	maxHostInstances = 100
	maxVolumes       = 300
	maxWaits         = 300
	maxHostName      = 255     // characters
	maxMount         = 255     // bytes: as many as an alert can carry
	maxKey           = 200     // characters, of a statement's key and the name of a wait
	maxCount         = 1 << 40 // a float64 has all of them
	maxMilliseconds  = 1e15
	minInterval      = 0.001
	maxInterval      = 7 * 24 * 60 * 60
	sessionInterval  = 10 * time.Second // where it is left out
)

// tooManySamples refuses a body by its size alone.
func tooManySamples(body api.SampleBatch) error {
	n := len(wire.Value(body.Hosts)) + len(wire.Value(body.Sessions)) + len(wire.Value(body.Statements))
	if n <= maxSamples {
		return nil
	}
	detail := fmt.Sprintf("has %d items; at most %d are allowed in one call", n, maxSamples)
	return &commands.RuleError{
		Code: "too_many_items", Title: commands.Title("too_many_items"), Detail: "The call " + detail + ".",
		Fields: []commands.FieldError{{Pointer: "#", Code: "too_many_items", Detail: detail, Params: map[string]any{"max": maxSamples}}},
	}
}

// readSamples makes a batch of a body that has the form of openapi.yaml, or says
// which rules it breaks: all of them, up to maxFaults.
func readSamples(body api.SampleBatch, known sampledFleet, now time.Time) (measurements.Batch, error) {
	r := sampleReader{known: known, latest: now.Add(maxSampleAhead)}
	var b measurements.Batch
	for i, h := range wire.Value(body.Hosts) {
		b.Hosts = append(b.Hosts, r.host("#/hosts/"+strconv.Itoa(i), h))
	}
	for i, sample := range wire.Value(body.Sessions) {
		b.Sessions = append(b.Sessions, r.sessions("#/sessions/"+strconv.Itoa(i), sample))
	}
	for i, sample := range wire.Value(body.Statements) {
		b.Statements = append(b.Statements, r.statements("#/statements/"+strconv.Itoa(i), sample))
	}
	if len(r.broken) > 0 {
		return measurements.Batch{}, r.err()
	}
	return b, nil
}

// sampleReader reads samples and gathers what is wrong with them.
type sampleReader struct {
	known  sampledFleet
	latest time.Time // what lies after it is in the future
	broken []commands.FieldError
}

func (r *sampleReader) refuse(pointer, code, detail string) {
	if len(r.broken) < wire.MaxFaults {
		r.broken = append(r.broken, commands.FieldError{Pointer: pointer, Code: code, Detail: detail})
	}
}

func (r *sampleReader) err() error {
	first := r.broken[0]
	detail := first.Pointer + " " + first.Detail + "."
	if n := len(r.broken); n >= wire.MaxFaults {
		detail = fmt.Sprintf("At least %d rules are broken; errors names these.", n)
	} else if n > 1 {
		detail = fmt.Sprintf("%d rules are broken; errors names them.", n)
	}
	return &commands.RuleError{Code: first.Code, Title: commands.Title(first.Code), Detail: detail, Fields: r.broken}
}

func (r *sampleReader) host(at string, h api.HostSample) measurements.HostSample {
	if n := utf8.RuneCountInString(h.Host); n < 1 || n > maxHostName {
		r.refuse(at+"/host", "out_of_range", fmt.Sprintf("must be 1 to %d characters", maxHostName))
	} else if !legible.Name(h.Host) {
		r.refuse(at+"/host", "invalid_name", legible.Rule)
	}
	sample := measurements.HostSample{
		Host: h.Host, At: r.time(at+"/at", h.At),
		CPUPercent: r.percent(at+"/cpuPercent", h.CpuPercent), MemoryPercent: r.percent(at+"/memoryPercent", h.MemoryPercent),
	}
	if h.CpuPercent == nil && h.MemoryPercent == nil && h.Volumes == nil {
		r.refuse(at, "out_of_range", "must have at least one of cpuPercent, memoryPercent and volumes")
	}
	if r.atMost(at+"/instances", len(h.Instances), maxHostInstances) {
		sample.Instances = r.instances(at+"/instances/", h.Instances)
	}
	if r.atMost(at+"/volumes", len(wire.Value(h.Volumes)), maxVolumes) {
		sample.Volumes = r.volumes(at+"/volumes/", wire.Value(h.Volumes))
	}
	return sample
}

// instances are those of a host, each once. A sender who names none says so: it is not
// as if there were no list.
func (r *sampleReader) instances(at string, names []string) []uuid.UUID {
	ids := make([]uuid.UUID, 0, len(names))
	for i, name := range names {
		if instance, ok := r.known.instances[name]; !ok {
			r.unknownInstance(at + strconv.Itoa(i))
		} else if !slices.Contains(ids, instance.ID) {
			ids = append(ids, instance.ID)
		}
	}
	return ids
}

func (r *sampleReader) volumes(at string, all []api.VolumeSample) (volumes []measurements.Volume) {
	mounts := make(map[string]bool, len(all))
	for i, v := range all {
		at := at + strconv.Itoa(i)
		if len(v.Mount) < 1 || len(v.Mount) > maxMount {
			r.refuse(at+"/mount", "out_of_range", fmt.Sprintf("must be 1 to %d bytes", maxMount))
		} else if !legible.Name(v.Mount) {
			r.refuse(at+"/mount", "invalid_name", legible.Rule)
		}
		r.once(at+"/mount", v.Mount, mounts)
		volumes = append(volumes, measurements.Volume{Mount: v.Mount, UsedPercent: r.percent(at+"/usedPercent", &v.UsedPercent)})
	}
	return volumes
}

func (r *sampleReader) sessions(at string, s api.SessionSample) measurements.SessionSample {
	sample := measurements.SessionSample{
		At: r.time(at+"/at", s.At), Interval: sessionInterval,
		Active: r.count(at+"/active", s.Active), Idle: r.count(at+"/idle", s.Idle), Waiting: r.count(at+"/waiting", s.Waiting),
		IdleInTransaction: r.count(at+"/idleInTransaction", s.IdleInTransaction), Other: r.count(at+"/other", s.Other),
		Waits: make(map[string]int64, len(s.Waits)),
	}
	if s.IntervalSeconds != nil {
		sample.Interval = r.interval(at+"/intervalSeconds", *s.IntervalSeconds)
	}
	instance, database := r.database(at, s.Instance, s.Database)
	sample.Instance, sample.Engine, sample.Database = instance.ID, instance.Engine, database
	if !r.atMost(at+"/waits", len(s.Waits), maxWaits) {
		return sample
	}
	for _, name := range slices.Sorted(maps.Keys(s.Waits)) {
		pointer := at + "/waits/" + wire.EscapePointer(name)
		r.name(pointer, name)
		sample.Waits[name] = r.count(pointer, s.Waits[name])
	}
	return sample
}

func (r *sampleReader) statements(at string, s api.StatementSample) measurements.StatementSample {
	sample := measurements.StatementSample{
		At: r.time(at+"/at", s.At), Interval: r.interval(at+"/intervalSeconds", s.IntervalSeconds),
		Statements: make([]measurements.Statement, 0, len(s.Statements)),
	}
	instance, database := r.database(at, s.Instance, s.Database)
	sample.Instance, sample.Engine, sample.Database = instance.ID, instance.Engine, database
	keys := make(map[string]bool, len(s.Statements))
	for i, statement := range s.Statements {
		at := at + "/statements/" + strconv.Itoa(i)
		r.name(at+"/key", statement.Key)
		r.once(at+"/key", statement.Key, keys)
		sample.Statements = append(sample.Statements, measurements.Statement{
			Key: statement.Key, Calls: r.count(at+"/calls", statement.Calls),
			TotalMs: r.number(at+"/totalMs", statement.TotalMs, 0, maxMilliseconds),
			MaxMs:   r.optional(at+"/maxMs", statement.MaxMs, maxMilliseconds),
		})
	}
	return sample
}

// database finds where a sample belongs.
func (r *sampleReader) database(at, instance, database string) (on fleet.Instance, id uuid.UUID) {
	on, ok := r.known.instances[instance]
	if !ok {
		r.unknownInstance(at + "/instance")
		return on, uuid.Nil
	}
	id, ok = r.known.databases[databaseOn{instance, database}]
	if !ok {
		r.refuse(at+"/database", "unknown_database", "is no database of that instance")
	}
	return on, id
}

func (r *sampleReader) unknownInstance(pointer string) {
	r.refuse(pointer, "unknown_instance", "is no instance of this organization")
}

// time is a time as PostgreSQL keeps it.
func (r *sampleReader) time(pointer string, at time.Time) time.Time {
	switch {
	case at.After(r.latest):
		r.refuse(pointer, "time_in_future", "lies more than 5 minutes in the future")
	case at.Unix() < 0:
		r.refuse(pointer, "out_of_range", "lies before 1970")
	}
	return instant.Cut(at)
}

// number reads one that has the form of a number; what a float64 does not reach is
// infinite.
func (r *sampleReader) number(pointer string, n json.Number, least, most float64) float64 {
	v, _ := n.Float64()
	if v < least || v > most {
		r.refuse(pointer, "out_of_range", fmt.Sprintf("must be %s to %s", plainly(least), plainly(most)))
	}
	return v
}

func plainly(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

func (r *sampleReader) optional(pointer string, n *json.Number, most float64) *float64 {
	if n == nil {
		return nil
	}
	v := r.number(pointer, *n, 0, most)
	return &v
}

func (r *sampleReader) percent(pointer string, n *json.Number) *float64 {
	return r.optional(pointer, n, 100)
}

func (r *sampleReader) count(pointer string, n json.Number) int64 {
	return int64(r.number(pointer, n, 0, maxCount))
}

func (r *sampleReader) interval(pointer string, n json.Number) time.Duration {
	return time.Duration(r.number(pointer, n, minInterval, maxInterval) * float64(time.Second))
}

// name is the key of a statement, or of a wait, which is a member's name: there U+0000
// has not been looked for yet.
func (r *sampleReader) name(pointer, name string) {
	if n := utf8.RuneCountInString(name); n < 1 || n > maxKey || strings.ContainsRune(name, 0) {
		r.refuse(pointer, "out_of_range", fmt.Sprintf("must be 1 to %d characters, none of them U+0000", maxKey))
	}
}

func (r *sampleReader) once(pointer, key string, seen map[string]bool) {
	if seen[key] {
		r.refuse(pointer, "duplicate_key", "is in this sample twice")
	}
	seen[key] = true
}

func (r *sampleReader) atMost(pointer string, n, most int) bool {
	if n > most {
		r.refuse(pointer, "out_of_range", fmt.Sprintf("has %d entries; at most %d are allowed", n, most))
	}
	return n <= most
}
