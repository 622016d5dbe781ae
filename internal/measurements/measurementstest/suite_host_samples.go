package measurementstest

import (
	"fmt"
	"slices"

	"muster/domain/timegrid"
	"muster/internal/measurements"
)

// scrape is one of the counters of a CPU: seconds in user mode, idle and waiting for
// I/O.
func scrape(when string, user, idle, iowait float64) measurements.HostSample {
	return measurements.HostSample{Host: "db01", At: at(when), CPU: []measurements.CPUCounter{
		{Code: measurements.ModeUser, Seconds: user}, {Code: measurements.ModeIdle, Seconds: idle}, {Code: measurements.ModeIOWait, Seconds: iowait},
	}}
}

// partial is one of the counters of one mode.
func partial(when string, mode int32, seconds float64) measurements.HostSample {
	return measurements.HostSample{Host: "db01", At: at(when), CPU: []measurements.CPUCounter{{Code: mode, Seconds: seconds}}}
}

// hostCounters: CPU from counters (issue 5, COMMON: idle and iowait are idle; resets;
// unequal scrapes weigh by time).
func hostCounters() []hostCase {
	stale := measurements.HostSample{Host: "db01", At: at("18T10:00:45"), Stale: true}
	minute := func(cpu ...float64) line { return cpu }
	return []hostCase{
		{
			name:  "an interval lies where it ends, the first scrape is where it begins",
			given: together(scrape("18T10:00:30", 100, 100, 0), scrape("18T10:01:30", 115, 145, 0)),
			in:    from("18T10:00", 2, timegrid.Minute), cpu: minute(gap, 25), hosts: 1,
		},
		{
			name:  "waiting for I/O is idle",
			given: together(scrape("18T10:00", 0, 0, 0), scrape("18T10:01", 10, 20, 10)),
			in:    from("18T10:01", 1, timegrid.Minute), cpu: minute(25), hosts: 1,
		},
		{
			name:  "scrapes weigh by their time",
			given: together(scrape("18T10:00", 0, 0, 0), scrape("18T10:00:10", 10, 0, 0), scrape("18T10:00:50", 10, 40, 0)),
			in:    from("18T10:00", 1, timegrid.Minute), cpu: minute(20), hosts: 1,
		},
		{
			name:  "over an hour, too",
			given: together(scrape("18T10:00", 0, 0, 0), scrape("18T10:01", 60, 0, 0), scrape("18T10:10", 60, 540, 0)),
			in:    from("18T10:00", 1, timegrid.Hour), cpu: minute(10), hosts: 1,
		},
		{
			name:  "a percentage stands for a minute",
			given: together(scrape("18T10:00:00", 0, 0, 0), scrape("18T10:00:30", 30, 0, 0), host("db01", "18T10:00:40", 10)),
			in:    from("18T10:00", 1, timegrid.Minute), cpu: minute(40), hosts: 1,
		},
		{
			name:  "to the microsecond",
			given: together(scrape("18T10:00:00", 0, 0, 0), scrape("18T10:00:00.000300", 0.0003, 0, 0), scrape("18T10:00:00.001", 0.0003, 0.0007, 0)),
			in:    from("18T10:00", 1, timegrid.Minute), cpu: minute(30), hosts: 1,
		},
		{
			name: "of a sample that has both, the percentage counts",
			given: together(scrape("18T10:00:00", 0, 0, 0), measurements.HostSample{
				Host: "db01", At: at("18T10:01"), CPUPercent: p(10), CPU: scrape("18T10:01", 60, 0, 0).CPU,
			}, scrape("18T10:02", 90, 30, 0)),
			in: from("18T10:00", 3, timegrid.Minute), cpu: minute(gap, 10, 50), hosts: 1,
		},
		{
			name:  "ten minutes are not too long, and one that is late is new",
			given: together(scrape("18T10:00", 0, 0, 0), scrape("18T10:10", 60, 540, 0), scrape("18T10:20:01", 60, 540+601, 0), scrape("18T10:21:01", 90, 540+631, 0)),
			in:    from("18T10:00", 1, timegrid.Hour), cpu: minute((10*600 + 50*60) / 660.0), hosts: 1,
		},
		{
			name:  "a counter that fell was reset",
			given: together(scrape("18T10:00", 1000, 1000, 0), scrape("18T10:01", 10, 1060, 0), scrape("18T10:02", 40, 1090, 0)),
			in:    from("18T10:00", 3, timegrid.Minute), cpu: minute(gap, gap, 50), hosts: 1,
		},
		{
			name:  "no interval reaches across a marker of staleness",
			given: together(scrape("18T10:00", 0, 0, 0), scrape("18T10:00:30", 30, 0, 0), stale, scrape("18T10:01", 60, 0, 0), scrape("18T10:02", 60, 60, 0)),
			in:    from("18T10:00", 3, timegrid.Minute), cpu: minute(100, gap, 0), hosts: 1,
		},
		{
			name:  "a marker that comes late does the same",
			given: slices.Concat(together(scrape("18T10:00", 0, 0, 0), scrape("18T10:00:30", 30, 0, 0), scrape("18T10:01", 60, 0, 0), scrape("18T10:02", 60, 60, 0)), together(stale)),
			in:    from("18T10:00", 3, timegrid.Minute), cpu: minute(100, gap, 0), hosts: 1,
		},
		{
			name: "a marker with a scrape stands before it",
			given: together(scrape("18T10:00", 0, 0, 0), scrape("18T10:00:45", 45, 0, 0), stale,
				scrape("18T10:01:45", 75, 30, 0)),
			in: from("18T10:00", 2, timegrid.Minute), cpu: minute(gap, 50), hosts: 1,
		},
		{
			name: "another number of CPUs begins anew",
			given: together(scrape("18T10:00", 0, 0, 0),
				partial("18T10:01", measurements.ModeUser, 60), partial("18T10:02", measurements.ModeUser, 120)),
			in: from("18T10:00", 3, timegrid.Minute), cpu: minute(gap, gap, 100), hosts: 1,
		},
		{
			name: "so does another CPU",
			given: together(partial("18T10:00", measurements.ModeUser, 0),
				partial("18T10:01", 16+measurements.ModeUser, 60), partial("18T10:02", 16+measurements.ModeUser, 120)),
			in: from("18T10:00", 3, timegrid.Minute), cpu: minute(gap, gap, 100), hosts: 1,
		},
		{
			name: "a scrape may come in parts",
			given: oneByOne(partial("18T10:00", measurements.ModeUser, 0), partial("18T10:01", measurements.ModeUser, 15),
				partial("18T10:00", measurements.ModeIdle, 0), partial("18T10:01", measurements.ModeIdle, 45)),
			in: from("18T10:01", 1, timegrid.Minute), cpu: minute(25), hosts: 1,
		},
		{
			name:  "parts that are repeated change nothing",
			given: oneByOne(scrape("18T10:00", 0, 0, 0), partial("18T10:00", measurements.ModeUser, 1000), scrape("18T10:01", 15, 45, 0), partial("18T10:01", measurements.ModeIdle, 0)),
			in:    from("18T10:01", 1, timegrid.Minute), cpu: minute(25), hosts: 1,
		},
		{
			name:  "a scrape that comes late cuts an interval in two",
			given: oneByOne(scrape("18T10:00", 0, 0, 0), scrape("18T10:02", 60, 60, 0), scrape("18T10:01", 60, 0, 0)),
			in:    from("18T10:00", 3, timegrid.Minute), cpu: minute(gap, 100, 0), hosts: 1,
		},
		{
			name:  "one that comes late at the end of an hour, too",
			given: oneByOne(scrape("18T10:55", 0, 0, 0), scrape("18T11:03", 0, 480, 0), scrape("18T10:59", 240, 0, 0)),
			in:    from("18T10:00", 2, timegrid.Hour), cpu: minute(100, gap), hosts: 1,
		},
		{
			name:  "counters that stand still say nothing",
			given: together(scrape("18T10:00", 5, 5, 0), scrape("18T10:01", 5, 5, 0)),
			in:    from("18T10:01", 1, timegrid.Minute), cpu: minute(gap), hosts: 1,
		},
		{
			name:  "scrapes of something else do not come between",
			given: together(scrape("18T10:00", 0, 0, 0), memory("db01", "18T10:00:30", 40), scrape("18T10:01", 30, 30, 0)),
			in:    from("18T10:00", 2, timegrid.Minute), cpu: minute(gap, 50), mem: line{40, gap}, hosts: 1,
		},
	}
}

// hostMemory: reading 12.
func hostMemory() []hostCase {
	sample := func(when string, total, available, used float64) measurements.HostSample {
		return measurements.HostSample{Host: "db01", At: at(when), Memory: &measurements.MemoryBytes{Total: total, Available: available, Used: used}}
	}
	minute := from("18T10:00", 1, timegrid.Minute)
	return []hostCase{
		{name: "used is what is not available", given: together(sample("18T10:00", 1000, 250, -1)), in: minute, mem: line{75}, hosts: 1},
		{name: "whatever is called used beside it", given: together(sample("18T10:00", 1000, 250, 100)), in: minute, mem: line{75}, hosts: 1},
		{name: "used, where nothing is said to be available", given: together(sample("18T10:00", 1000, -1, 400)), in: minute, mem: line{40}, hosts: 1},
		{name: "more available than there is", given: together(sample("18T10:00", 1000, 2000, -1)), in: minute, mem: line{0}, hosts: 1},
		{name: "of nothing there is no share", given: together(sample("18T10:00", 0, 0, -1)), in: minute, mem: line{gap}, hosts: 1},
		{name: "one of the two is not enough", given: together(sample("18T10:00", -1, 250, -1)), in: minute, mem: line{gap}, hosts: 1},
		{
			name:  "in two messages",
			given: oneByOne(sample("18T10:00", -1, 250, -1), sample("18T10:00", 1000, 900, -1)),
			in:    minute, mem: line{75}, hosts: 1,
		},
		{
			name:  "bytes and percentages weigh the same",
			given: together(sample("18T10:00:20", 1000, 800, -1), memory("db01", "18T10:00:30", 60), memory("db01", "18T10:00:40", 70)),
			in:    minute, mem: line{50}, hosts: 1,
		},
	}
}

// hostDisks: §4.4 and reading 12.
func hostDisks() []hostCase {
	bytes := func(mount string, size, free, available float64) measurements.Volume {
		return measurements.Volume{Mount: mount, Size: size, Free: free, Available: available}
	}
	minute := from("18T10:00", 1, timegrid.Minute)
	cases := []hostCase{
		{
			name: "the fullest volume of all hosts at its peak",
			given: together(disk("db01", "18T10:00:10", volume("/", 50), volume("/data", 70)), disk("db01", "18T10:00:20", volume("/", 91), volume("/data", 40)),
				disk("db02", "18T10:00:30", volume("/", 60))),
			in: minute, disk: line{91}, hosts: 2,
		},
		{
			name:  "the peak of the day is that of one of its samples",
			given: together(disk("db01", "18T10:00", volume("/", 50)), disk("db01", "18T10:30", volume("/", 97)), disk("db01", "18T20:00", volume("/", 20))),
			in:    from("18T00:00", 1, timegrid.Day), disk: line{97}, hosts: 1,
		},
		{
			name:  "what is reserved is neither used nor available",
			given: together(disk("db01", "18T10:00", bytes("/data", 1000, 400, 200))), // 600 of 800, as df has it
			in:    minute, disk: line{75}, hosts: 1,
		},
		{
			name:  "sizes may come in three messages",
			given: oneByOne(disk("db01", "18T10:00", bytes("/", 1000, -1, -1)), disk("db01", "18T10:00", bytes("/", -1, -1, 200)), disk("db01", "18T10:00", bytes("/", -1, 400, -1))),
			in:    minute, disk: line{75}, hosts: 1,
		},
		{name: "two of the three are not enough", given: together(disk("db01", "18T10:00", bytes("/", 1000, 400, -1))), in: minute, disk: line{gap}, hosts: 1},
		{name: "a volume of no size", given: together(disk("db01", "18T10:00", bytes("/", 0, 0, 0))), in: minute, disk: line{gap}, hosts: 1},
	}
	for mount, counts := range map[string]bool{
		"/boot": false, "/boot/efi": false, "/snap/core/1": false, "/snap/x": false,
		"/snap": true, "/boots": true, "/boot/grub": true, "/boot/efi/x": true, "/data/boot": true, "/var/snap/x": true, "/Boot": true, "C:": true,
	} {
		want := line{80}
		if counts {
			want = line{99}
		}
		cases = append(cases, hostCase{
			name:  fmt.Sprintf("%s counts: %t", mount, counts),
			given: together(disk("db01", "18T10:00", volume(mount, 99), volume("/", 80))), in: minute, disk: want, hosts: 1,
		})
	}
	return cases
}
