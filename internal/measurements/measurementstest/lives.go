package measurementstest

import (
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/google/uuid"
	"pgregory.net/rapid"

	"muster/domain/fleet"
	"muster/internal/measurements"
)

// life is a random fleet and what its agents send, message by message.
type life struct {
	instances []server
	hosts     []string
	times     []time.Time // at which more than one thing may be measured
	messages  []measurements.Batch
	rolled    []bool // whether somebody rolls up behind each message
}

// GoString is the form in which a failure prints it: one line for each sample, and an arrow for
// each rollup.
func (l life) GoString() string {
	var out strings.Builder
	lines := json.NewEncoder(&out)
	for i, m := range l.messages {
		out.WriteByte('\n')
		for _, s := range m.Hosts {
			_ = lines.Encode(s)
		}
		for _, s := range m.Sessions {
			_ = lines.Encode(s)
		}
		for _, s := range m.Statements {
			_ = lines.Encode(s)
		}
		if l.rolled[i] {
			out.WriteString("→")
		}
	}
	return out.String()
}

// server is an instance of it.
type server struct {
	id        uuid.UUID
	engine    fleet.Engine
	databases []uuid.UUID
}

// eras are when things happen: at the edge of two hours, of two weeks, and imported
// from the edge of two weeks a month before.
var eras = []time.Time{at("10:56"), at("15T23:57"), at("16T00:00").AddDate(0, 0, -28).Add(-2 * time.Minute)}

// moments are times in eras, so close to each other that their buckets meet, and often
// on the edges of these.
func moments() *rapid.Generator[time.Time] {
	return rapid.Custom(func(t *rapid.T) time.Time {
		when := rapid.SampledFrom(eras).Draw(t, "era").Add(time.Duration(rapid.IntRange(0, 12).Draw(t, "minute")) * time.Minute)
		switch rapid.IntRange(0, 9).Draw(t, "far") {
		case 0: // hours later
			when = when.Add(time.Duration(rapid.IntRange(1, 30).Draw(t, "hours")) * time.Hour)
		case 1: // days later
			when = when.Add(time.Duration(rapid.IntRange(1, 5).Draw(t, "days")) * 24 * time.Hour)
		}
		switch rapid.IntRange(0, 3).Draw(t, "edge") {
		case 0:
			return when
		case 1:
			return when.Add(-time.Microsecond)
		}
		return when.Add(time.Duration(rapid.IntRange(0, 59_999_999).Draw(t, "microseconds")) * time.Microsecond)
	})
}

// measured are numbers that may be measured, and 0: numbers next to 0 (1e-310) are not exact to
// nine digits.
func measured(most float64) *rapid.Generator[float64] {
	return rapid.OneOf(rapid.Just(0.0), rapid.Float64Range(1e-6, most), rapid.Float64Range(1e-6, most))
}

// lives draws one.
func lives() *rapid.Generator[life] {
	return rapid.Custom(func(t *rapid.T) life {
		var l life
		for i := range rapid.IntRange(1, 6).Draw(t, "instances") {
			s := server{id: uuid.UUID{1, byte(i)}, engine: rapid.SampledFrom([]fleet.Engine{pg, pg, sqlServer, oracle, oracle, fleet.MySQL, fleet.MongoDB}).Draw(t, "engine")}
			for j := range rapid.IntRange(1, 3).Draw(t, "databases") {
				s.databases = append(s.databases, uuid.UUID{2, byte(i), byte(j)})
			}
			l.instances = append(l.instances, s)
		}
		for i := range rapid.IntRange(1, 4).Draw(t, "hosts") {
			l.hosts = append(l.hosts, fmt.Sprintf("db%02d", i))
		}
		l.times = rapid.SliceOfN(moments(), 1, 5).Draw(t, "times")
		var sent []measurements.Batch // of one sample each
		for _, of := range []*rapid.Generator[[]measurements.Batch]{l.scrapes(), l.natives(), l.sessions(), l.statements(), l.servers()} {
			sent = append(sent, of.Draw(t, "samples")...)
		}
		l.deliver(t, sent)
		return l
	})
}

// moments are times of the life: some that are shared, so that samples are repeated with
// another content, and others.
func (l *life) moments() *rapid.Generator[time.Time] {
	return rapid.OneOf(rapid.SampledFrom(l.times), moments(), moments())
}

// deliver makes messages of samples: in any order, some twice, and rolled up now and
// then between them.
func (l *life) deliver(t *rapid.T, sent []measurements.Batch) {
	for range rapid.IntRange(0, 5).Draw(t, "repeated") {
		if len(sent) > 0 {
			sent = append(sent, rapid.SampledFrom(sent).Draw(t, "again"))
		}
	}
	switch rapid.IntRange(0, 3).Draw(t, "order") {
	case 0: // as it was measured, an agent after the other
	default:
		sent = rapid.Permutation(sent).Draw(t, "arrival")
	}
	for len(sent) > 0 {
		n := min(rapid.SampledFrom([]int{1, 2, 5, 10, 40}).Draw(t, "together"), len(sent))
		var message measurements.Batch
		for _, b := range sent[:n] {
			message.Hosts = append(message.Hosts, b.Hosts...)
			message.Sessions = append(message.Sessions, b.Sessions...)
			message.Statements = append(message.Statements, b.Statements...)
			message.Servers = append(message.Servers, b.Servers...)
		}
		l.messages, l.rolled = append(l.messages, message), append(l.rolled, rapid.Bool().Draw(t, "roll"))
		sent = sent[n:]
	}
}

// runs draws what an agent says of the instances on its host.
func (l *life) runs(t *rapid.T) []uuid.UUID {
	if rapid.IntRange(0, 2).Draw(t, "says") == 0 {
		return nil
	}
	ids := []uuid.UUID{}
	for _, s := range l.instances {
		if rapid.IntRange(0, 2).Draw(t, "runs") == 0 {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// natives are samples of hosts by senders who have done the arithmetic.
func (l *life) natives() *rapid.Generator[[]measurements.Batch] {
	return rapid.Custom(func(t *rapid.T) (sent []measurements.Batch) {
		percents := rapid.OneOf(measured(100), rapid.Just(100.0))
		for range rapid.IntRange(0, 15).Draw(t, "natives") {
			h := measurements.HostSample{Host: rapid.SampledFrom(l.hosts).Draw(t, "host"), At: l.moments().Draw(t, "at"), Instances: l.runs(t)}
			if rapid.Bool().Draw(t, "CPU") {
				h.CPUPercent = p(percents.Draw(t, "CPU"))
			}
			if rapid.Bool().Draw(t, "memory") {
				h.MemoryPercent = p(percents.Draw(t, "memory"))
			}
			for _, mount := range []string{"/", "/data", "/boot", "/boot/efi", "/boot/grub", "/snap", "/snap/core"} {
				if rapid.IntRange(0, 3).Draw(t, "mounted") == 0 {
					h.Volumes = append(h.Volumes, volume(mount, percents.Draw(t, "used")))
				}
			}
			sent = append(sent, measurements.Batch{Hosts: []measurements.HostSample{h}})
		}
		return sent
	})
}

// scrapes are of an agent's counters: they grow, now and then they begin anew, one is
// stale, or has another number of CPUs, and many come in two parts.
func (l *life) scrapes() *rapid.Generator[[]measurements.Batch] {
	steps := rapid.OneOf(
		rapid.SampledFrom([]time.Duration{15 * time.Second, 15 * time.Second, time.Minute, 10 * time.Minute, 10*time.Minute + time.Microsecond}),
		rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.IntRange(1, 120_000_000).Draw(t, "microseconds")) * time.Microsecond
		}),
	)
	return rapid.Custom(func(t *rapid.T) (sent []measurements.Batch) {
		for _, host := range l.hosts[:rapid.IntRange(0, len(l.hosts)).Draw(t, "scraped")] {
			runs := l.runs(t)
			counters := map[int32]float64{0: 100, 3: 500, 4: 7, 16: 90, 19: 400}
			when := l.moments().Draw(t, "first")
			for range rapid.IntRange(0, 12).Draw(t, "scrapes") {
				when = when.Add(steps.Draw(t, "step"))
				sent = append(sent, scrapeOf(t, measurements.HostSample{Host: host, At: when, Instances: runs}, counters)...)
			}
		}
		return sent
	})
}

// scrapeOf draws the samples of a scrape, and what the counters came to until it.
func scrapeOf(t *rapid.T, h measurements.HostSample, counters map[int32]float64) (sent []measurements.Batch) {
	var cpu []measurements.CPUCounter
	begins := int32(20) // the first code that begins anew
	if rapid.IntRange(0, 7).Draw(t, "reset") == 0 {
		begins = rapid.Int32Range(0, 19).Draw(t, "begins anew")
	}
	for _, code := range []int32{0, 3, 4, 16, 19} {
		counters[code] += measured(60).Draw(t, "spent")
		if code >= begins {
			counters[code] = float64(code)
		}
		if code < 16 || rapid.IntRange(0, 9).Draw(t, "one CPU") > 0 {
			cpu = append(cpu, measurements.CPUCounter{Code: code, Seconds: counters[code]})
		}
	}
	h.CPU = cpu
	switch rapid.IntRange(0, 9).Draw(t, "sort") {
	case 0:
		h.CPU, h.Stale = nil, true
	case 1:
		h.Stale = true
	case 2, 3: // in two messages
		rest := h
		cut := rapid.IntRange(0, len(cpu)).Draw(t, "cut")
		h.CPU, rest.CPU = cpu[:cut], cpu[cut:]
		rest.Memory = &measurements.MemoryBytes{Total: 1 << 34, Available: rapid.Float64Range(0, 1<<34).Draw(t, "available"), Used: -1}
		free := rapid.Float64Range(0, 1<<40).Draw(t, "free")
		rest.Volumes = []measurements.Volume{{Mount: "/", Size: 1 << 40, Free: free, Available: -1}}
		h.Volumes = []measurements.Volume{{Mount: "/", Size: -1, Free: -1, Available: free / 2}}
		sent = append(sent, measurements.Batch{Hosts: []measurements.HostSample{rest}})
	}
	return append(sent, measurements.Batch{Hosts: []measurements.HostSample{h}})
}

// sessions are samples of the sessions of databases.
func (l *life) sessions() *rapid.Generator[[]measurements.Batch] {
	names := map[fleet.Engine][]string{
		pg: {"", "Lock", "LWLock", "IO", "Client", "Activity"}, sqlServer: {"", "LCK_M_X", "LATCH_EX", "PAGELATCH_EX", "ASYNC_NETWORK_IO", "CXPACKET"},
		oracle: {"", "Concurrency", "Configuration", "User I/O", "Network", "Idle"}, fleet.MySQL: {"Lock"}, fleet.MongoDB: {"Lock"},
	}
	few := rapid.Int64Range(0, 4)
	return rapid.Custom(func(t *rapid.T) (sent []measurements.Batch) {
		for range rapid.IntRange(0, 25).Draw(t, "sessions") {
			of := rapid.SampledFrom(l.instances).Draw(t, "instance")
			s := measurements.SessionSample{
				Instance: of.id, Engine: of.engine, Database: rapid.SampledFrom(of.databases).Draw(t, "database"), At: l.moments().Draw(t, "at"),
				Interval: rapid.SampledFrom([]time.Duration{0, 10 * time.Second, 30 * time.Second, 5 * time.Minute}).Draw(t, "interval"),
				Active:   few.Draw(t, "active"), Idle: few.Draw(t, "idle"), Waiting: few.Draw(t, "waiting"),
				IdleInTransaction: few.Draw(t, "idle in transaction"), Other: few.Draw(t, "other"),
			}
			s.Waits = rapid.MapOfN(rapid.SampledFrom(names[of.engine]), few, 0, 3).Draw(t, "waits")
			s.Deadlocks = rapid.Ptr(few, true).Draw(t, "deadlocks")
			for range rapid.IntRange(0, 4).Draw(t, "kinds of sessions") {
				s.Doing = append(s.Doing, doing(t, names[of.engine]))
			}
			sent = append(sent, measurements.Batch{Sessions: []measurements.SessionSample{s}})
		}
		return sent
	})
}

// doing are sessions that do something, with as many details as somebody knows.
func doing(t *rapid.T, waits []string) measurements.Doing {
	name := func(what string) string { return rapid.SampledFrom([]string{"", "x", "y"}).Draw(t, what) }
	d := measurements.Doing{
		State: rapid.SampledFrom(measurements.States()).Draw(t, "state"), Wait: rapid.SampledFrom(waits).Draw(t, "wait"), Event: name("event"),
		Statement: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "statement"), User: name("user"), Application: name("application"), Client: name("client"),
		Sessions: rapid.Int64Range(-1, 4).Draw(t, "how many"),
	}
	if d.State == measurements.OnCPU {
		d.Event = ""
	}
	return d
}

// statements are samples of the statements of databases.
func (l *life) statements() *rapid.Generator[[]measurements.Batch] {
	durations := rapid.OneOf(measured(10), measured(1e7))
	return rapid.Custom(func(t *rapid.T) (sent []measurements.Batch) {
		for range rapid.IntRange(0, 25).Draw(t, "statements") {
			of := rapid.SampledFrom(l.instances).Draw(t, "instance")
			s := measurements.StatementSample{
				Instance: of.id, Engine: of.engine, Database: rapid.SampledFrom(of.databases).Draw(t, "database"), At: l.moments().Draw(t, "at"), Interval: time.Minute,
			}
			if rapid.IntRange(0, 2).Draw(t, "says how long") > 0 {
				s.BusyMs = p(durations.Draw(t, "busy"))
			}
			for _, key := range []string{"a", "b", "c"} {
				if rapid.IntRange(0, 2).Draw(t, "ran") == 0 {
					continue
				}
				one := measurements.Statement{Key: key, Calls: rapid.OneOf(rapid.Int64Range(0, 2), rapid.Int64Range(0, 1e6)).Draw(t, "calls"), TotalMs: durations.Draw(t, "total"), Text: "SELECT " + key}
				if one.Calls > 0 && rapid.Bool().Draw(t, "has a maximum") {
					one.MaxMs = p(durations.Draw(t, "maximum"))
				}
				s.Statements = append(s.Statements, one)
			}
			sent = append(sent, measurements.Batch{Statements: []measurements.StatementSample{s}})
		}
		return sent
	})
}
