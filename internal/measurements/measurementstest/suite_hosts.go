package measurementstest

import (
	"cmp"
	"slices"
	"testing"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// hostCase is samples of hosts, and what Utilization makes of them in a window.
type hostCase struct {
	name  string
	given []measurements.Batch // message by message
	scope measurements.HostScope
	in    timegrid.Window
	cpu   line // nil: is not looked at
	mem   line
	disk  line
	hosts int  // in scope with a sample; 0: one
	none  bool // no host in scope has a sample
}

func (c hostCase) story() story {
	return story{c.name, func(t *testing.T, h Harness) {
		want := answer{map[string]line{"CPU": c.cpu, "memory": c.mem, "disk": c.disk}, cmp.Or(c.hosts, 1)}
		if c.none {
			want.besides = 0
		}
		for _, organization := range h.arrive(t, c.given) {
			h.utilization(t, organization, c.scope, c.in).is(t, want, "utilization")
		}
	}}
}

// host is a sample of a host with a known CPU.
func host(name, when string, cpu float64) measurements.HostSample {
	return measurements.HostSample{Host: name, At: at(when), CPUPercent: &cpu}
}

// memory and disk are samples of that.
func memory(name, when string, percent float64) measurements.HostSample {
	return measurements.HostSample{Host: name, At: at(when), MemoryPercent: &percent}
}

func disk(name, when string, volumes ...measurements.Volume) measurements.HostSample {
	return measurements.HostSample{Host: name, At: at(when), Volumes: volumes}
}

func volume(mount string, percent float64) measurements.Volume {
	return measurements.Volume{Mount: mount, UsedPercent: &percent, Size: -1, Free: -1, Available: -1}
}

// hostMeans: §4.4 and readings 11 and 13.
func hostMeans() []hostCase {
	return []hostCase{
		{
			name: "hosts weigh the same, however often they are sampled",
			given: together(host("db01", "10:00:10", 10), host("db01", "10:00:20", 20), host("db01", "10:00:30", 30),
				host("db02", "10:00:15", 80)),
			in: minutes("10:00", 1), cpu: line{50}, mem: line{gap}, disk: line{gap}, hosts: 2,
		},
		{
			name: "an hour is of samples, not of minutes",
			given: together(host("db01", "10:00:10", 10), host("db01", "10:00:20", 10), host("db01", "10:00:30", 10),
				host("db01", "10:01:10", 50)),
			in: hours("10:00", 1), cpu: line{20},
		},
		{
			name:  "a day is of samples, not of hours",
			given: together(memory("db01", "10:00", 10), memory("db01", "10:30", 20), memory("db01", "11:00", 90)),
			in:    days("00:00", 1), mem: line{40},
		},
		{
			name:  "a week is of samples, not of days",
			given: together(memory("db01", "17T10:00", 10), memory("db01", "17T23:30", 20), memory("db01", "22T11:00", 90)),
			in:    weeks("16T00:00", 1), mem: line{40},
		},
		{
			name:  "hosts are not averaged before the hour is over",
			given: together(host("db01", "10:00", 0), host("db02", "10:00", 100), host("db02", "10:30", 50)),
			in:    hours("10:00", 1), cpu: line{37.5}, hosts: 2,
		},
		{
			name:  "a zero is a value",
			given: together(host("db01", "10:00", 0), memory("db01", "10:01", 0), disk("db01", "10:02", volume("/", 0))),
			in:    minutes("10:00", 4), cpu: line{0, gap, gap, gap}, mem: line{gap, 0, gap, gap}, disk: line{gap, gap, 0, gap},
		},
		{
			name:  "so do they in memory",
			given: together(memory("db01", "10:00:10", 10), memory("db01", "10:00:20", 30), memory("db02", "10:00:15", 80)),
			in:    minutes("10:00", 1), cpu: line{gap}, mem: line{50}, hosts: 2,
		},
		{
			name:  "a host without samples is none of zero",
			given: together(host("db01", "10:00", 60), host("db01", "10:01", 60), host("db02", "10:00", 20)),
			in:    minutes("10:00", 2), cpu: line{40, 60}, hosts: 2,
		},
		{
			name:  "a sample of which nothing is used counts its host",
			given: together(disk("db01", "10:00", volume("/boot", 99)), measurements.HostSample{Host: "db02", At: at("10:00")}),
			in:    minutes("10:00", 1), cpu: line{gap}, mem: line{gap}, disk: line{gap}, hosts: 2,
		},
		{
			name:  "a marker of staleness is no sample",
			given: together(host("db01", "10:00", 10), measurements.HostSample{Host: "db02", At: at("10:00"), Stale: true}),
			in:    minutes("10:00", 1), cpu: line{10},
		},
		{
			name:  "hosts of the window are counted",
			given: together(host("db01", "10:00", 1), host("db02", "10:02", 1), host("db03", "09:59:59", 1)),
			in:    minutes("10:00", 2), cpu: line{1, gap},
		},
	}
}

// hostArrivals: the same samples whenever and however often they come.
func hostArrivals() []hostCase {
	return []hostCase{
		{
			name:  "twice in one message counts once, and the first content stays",
			given: together(host("db01", "10:00", 10), host("db01", "10:00", 90), host("db01", "10:00:30", 20)),
			in:    minutes("10:00", 1), cpu: line{15},
		},
		{
			name:  "twice in two messages, too",
			given: oneByOne(host("db01", "10:00", 10), host("db01", "10:00:30", 20), host("db01", "10:00", 90)),
			in:    minutes("10:00", 1), cpu: line{15},
		},
		{
			name: "the parts that are new are kept",
			given: oneByOne(host("db01", "10:00", 10),
				measurements.HostSample{Host: "db01", At: at("10:00"), CPUPercent: p(90), MemoryPercent: p(40), Volumes: []measurements.Volume{volume("/", 50)}},
				measurements.HostSample{Host: "db01", At: at("10:00"), MemoryPercent: p(1), Volumes: []measurements.Volume{volume("/", 99), volume("/data", 60)}}),
			in: minutes("10:00", 1), cpu: line{10}, mem: line{40}, disk: line{60},
		},
		{
			name:  "microseconds tell samples apart",
			given: together(host("db01", "10:00:00.000001", 10), host("db01", "10:00:00.000002", 30)),
			in:    minutes("10:00", 1), cpu: line{20},
		},
		{
			name:  "the newest first",
			given: oneByOne(host("db01", "12:00", 30), host("db01", "10:30", 20), host("db01", "10:00", 10)),
			in:    hours("10:00", 3), cpu: line{15, gap, 30},
		},
		{
			name:  "an import of 36 hours ago",
			given: oneByOne(host("db01", "10:00", 40), host("db01", "16T22:00", 10), host("db01", "16T22:00:30", 30)),
			in:    weeks("16T00:00", 1), cpu: line{80.0 / 3},
		},
		{
			name:  "an import of two weeks ago",
			given: oneByOne(host("db01", "10:00", 40), host("db01", "04T22:00", 10)),
			in:    weeks("02T00:00", 3), cpu: line{10, gap, 40},
		},
	}
}

// hostBuckets: readings 5 and 6.
func hostBuckets() []hostCase {
	edges := together(host("db01", "09:59:59.999999", 1), host("db01", "10:00", 10), host("db01", "10:00:59.999999", 20), host("db01", "10:01", 40))
	sunday := together(host("db01", "22T23:59:59.999999", 10), host("db01", "23T00:00", 30))
	return []hostCase{
		{name: "minutes are half-open", given: edges, in: minutes("09:59", 3), cpu: line{1, 15, 40}},
		{name: "hours are half-open", given: edges, in: hours("09:00", 2), cpu: line{1, 70.0 / 3}},
		{
			name: "the buckets of a window are whole", given: edges,
			in:  timegrid.Window{From: at("09:59:59.9999995"), To: at("10:00:00.000001"), Size: timegrid.Minute},
			cpu: line{1, 15},
		},
		{
			name: "a window that ends on an edge opens no bucket", given: edges,
			in:  timegrid.Window{From: at("10:00:30"), To: at("10:01"), Size: timegrid.Minute},
			cpu: line{15},
		},
		{name: "weeks start on Monday", given: sunday, in: weeks("16T00:00", 2), cpu: line{10, 30}},
		{name: "days across the edge of a week", given: sunday, in: days("21T00:00", 4), cpu: line{gap, 10, 30, gap}},
		{name: "hours across the edge of a week", given: sunday, in: hours("22T22:00", 4), cpu: line{gap, 10, 30, gap}},
		{name: "minutes across the edge of a week", given: sunday, in: minutes("22T23:58", 4), cpu: line{gap, 10, 30, gap}},
		{name: "a week from its middle is whole", given: sunday, in: timegrid.Window{From: at("19T00:00"), To: at("22T23:59"), Size: timegrid.Week}, cpu: line{10}},
		{
			name:  "across the edge of an hour, intervals of counters lie where they end",
			given: together(scrape("09:59:30", 0, 0), scrape("10:00:30", 60, 0)),
			in:    hours("09:00", 2), cpu: line{gap, 100},
		},
		{
			name:  "across the edge of a week, too",
			given: together(scrape("22T23:59:30", 0, 0), scrape("23T00:00:30", 60, 0)),
			in:    weeks("16T00:00", 2), cpu: line{gap, 100},
		},
	}
}

// hostScopes: readings 1 and 11.
func hostScopes() []hostCase {
	on := func(name, when string, cpu float64, instances ...uuid.UUID) measurements.HostSample {
		s := host(name, when, cpu)
		s.Volumes = []measurements.Volume{volume("/", cpu)}
		s.Instances = append([]uuid.UUID{}, instances...) // said, even where it is none
		return s
	}
	shared := together(on("db01", "10:00", 90, orders, crm), on("db02", "10:00", 30, billing))
	moved := oneByOne(on("db01", "10:00", 10, orders), on("db02", "10:01", 30, orders), on("db01", "10:01", 20, crm))
	hour := hours("10:00", 1)
	scope := func(s fleet.Scope, names ...string) measurements.HostScope {
		return measurements.HostScope{Scope: s, Names: names}
	}
	return []hostCase{
		{name: "two instances on one host count it once", given: shared, in: hour, cpu: line{60}, disk: line{90}, hosts: 2},
		{name: "and so they do in a filter", given: shared, scope: scope(only(orders, crm, billing)), in: hour, cpu: line{60}, disk: line{90}, hosts: 2},
		{name: "either of them has its host", given: shared, scope: scope(only(crm)), in: hour, cpu: line{90}, disk: line{90}},
		{name: "a filter leaves hosts out", given: shared, scope: scope(only(billing)), in: hour, cpu: line{30}, disk: line{30}},
		{name: "a filter that nothing matches is not the organization", given: shared, scope: scope(nothing), in: hour, cpu: line{gap}, mem: line{gap}, disk: line{gap}, none: true},
		{name: "an instance without a host has gaps", given: shared, scope: scope(only(ledger)), in: hour, cpu: line{gap}, disk: line{gap}, none: true},
		{name: "the newest sample says what runs on a host, of all times", given: moved, scope: scope(only(orders)), in: hour, cpu: line{30}},
		{name: "and what ran there before does not", given: moved, scope: scope(only(crm)), in: hour, cpu: line{15}},
		{
			name: "the newest is not the one that came last", given: slices.Concat(moved, together(on("db01", "09:00", 50, orders))),
			scope: scope(only(orders)), in: hour, cpu: line{30},
		},
		{
			name: "the newest may lie outside of the window", given: slices.Concat(moved, together(on("db02", "19T09:00", 50, crm))),
			scope: scope(only(orders)), in: hour, cpu: line{gap}, none: true,
		},
		{
			name: "a sample that says nothing of instances changes nothing", given: slices.Concat(moved, together(host("db01", "10:30", 90))),
			scope: scope(only(crm)), in: hour, cpu: line{40},
		},
		{
			name: "of samples of one time, the first says it", given: slices.Concat(moved, together(on("db01", "10:01", 20, orders))),
			scope: scope(only(crm)), in: hour, cpu: line{15},
		},
		{
			name: "a host without instances is found by its name", given: together(host("db01", "10:00", 10), host("db02", "10:00", 30)),
			scope: scope(only(orders), "db01"), in: hour, cpu: line{10},
		},
		{
			name: "so is one whose newest sample names none", given: together(on("db01", "10:00", 10, crm), on("db01", "10:01", 30)),
			scope: scope(only(orders), "db01"), in: hour, cpu: line{20},
		},
		{name: "where instances are named, the name of the host is nothing", given: shared, scope: scope(only(orders), "db02"), in: hour, cpu: line{90}},
		{name: "hosts that nothing runs on are the organization's", given: together(host("web01", "10:00", 10)), in: hour, cpu: line{10}},
		{name: "and nobody else's", given: together(host("web01", "10:00", 10)), scope: scope(only(orders), "db01"), in: hour, cpu: line{gap}, none: true},
	}
}
