package measurementstest

import (
	"fmt"
	"slices"

	"muster/internal/measurements"
)

// scrape is one of the counters of a CPU: seconds in user mode, idle, and none waiting
// for I/O.
func scrape(when string, user, idle float64) measurements.HostSample {
	return measurements.HostSample{Host: "db01", At: at(when), CPU: []measurements.CPUCounter{
		{Code: measurements.ModeUser, Seconds: user}, {Code: measurements.ModeIdle, Seconds: idle}, {Code: measurements.ModeIOWait},
	}}
}

// partial is one of the counters of one mode.
func partial(when string, mode int32, seconds float64) measurements.HostSample {
	return measurements.HostSample{Host: "db01", At: at(when), CPU: []measurements.CPUCounter{{Code: mode, Seconds: seconds}}}
}

// hostCounters: CPU from counters (issue 5, COMMON: idle and iowait are idle; resets;
// unequal scrapes weigh by time).
func hostCounters() []hostCase {
	waited := scrape("10:01", 10, 20)
	waited.CPU[2].Seconds = 10
	stale := measurements.HostSample{Host: "db01", At: at("10:00:45"), Stale: true}
	return []hostCase{
		{
			name:  "an interval lies where it ends, the first scrape is where it begins",
			given: together(scrape("10:00:30", 100, 100), scrape("10:01:30", 115, 145)),
			in:    minutes("10:00", 2), cpu: line{gap, 25},
		},
		{
			name:  "a counter that goes back by less than a second has stood still: C31",
			given: together(scrape("10:00", 100, 100), scrape("10:01", 130, 99.99), scrape("10:02", 130, 159.99)),
			in:    minutes("10:01", 2), cpu: line{100, 0},
		},
		{
			name:  "one that goes back by a second was reset",
			given: together(scrape("10:00", 100, 100), scrape("10:01", 130, 99)),
			in:    minutes("10:01", 1), cpu: line{gap},
		},
		{name: "waiting for I/O is idle", given: together(scrape("10:00", 0, 0), waited), in: minutes("10:01", 1), cpu: line{25}},
		{
			name:  "scrapes weigh by their time",
			given: together(scrape("10:00", 0, 0), scrape("10:00:10", 10, 0), scrape("10:00:50", 10, 40)),
			in:    minutes("10:00", 1), cpu: line{20},
		},
		{name: "over an hour, too", given: together(scrape("10:00", 0, 0), scrape("10:01", 60, 0), scrape("10:10", 60, 540)), in: hours("10:00", 1), cpu: line{10}},
		{
			name:  "a percentage stands for a minute",
			given: together(scrape("10:00:00", 0, 0), scrape("10:00:30", 30, 0), host("db01", "10:00:40", 10)),
			in:    minutes("10:00", 1), cpu: line{40},
		},
		{
			name:  "to the microsecond",
			given: together(scrape("10:00:00", 0, 0), scrape("10:00:00.000300", 0.0003, 0), scrape("10:00:00.001", 0.0003, 0.0007)),
			in:    minutes("10:00", 1), cpu: line{30},
		},
		{
			name: "of a sample that has both, the percentage counts",
			given: together(scrape("10:00:00", 0, 0), measurements.HostSample{
				Host: "db01", At: at("10:01"), CPUPercent: p(10), CPU: scrape("10:01", 60, 0).CPU,
			}, scrape("10:02", 90, 30)),
			in: minutes("10:00", 3), cpu: line{gap, 10, 50},
		},
		{
			name:  "ten minutes are not too long, and one that is late is new",
			given: together(scrape("10:00", 0, 0), scrape("10:10", 60, 540), scrape("10:20:01", 60, 540+601), scrape("10:21:01", 90, 540+631)),
			in:    hours("10:00", 1), cpu: line{(10*600 + 50*60) / 660.0},
		},
		{
			name:  "a counter that fell was reset",
			given: together(scrape("10:00", 1000, 1000), scrape("10:01", 10, 1060), scrape("10:02", 40, 1090)),
			in:    minutes("10:00", 3), cpu: line{gap, gap, 50},
		},
		{
			name:  "no interval reaches across a marker of staleness",
			given: together(scrape("10:00", 0, 0), scrape("10:00:30", 30, 0), stale, scrape("10:01", 60, 0), scrape("10:02", 60, 60)),
			in:    minutes("10:00", 3), cpu: line{100, gap, 0},
		},
		{
			name:  "a marker that comes late does the same",
			given: slices.Concat(together(scrape("10:00", 0, 0), scrape("10:00:30", 30, 0), scrape("10:01", 60, 0), scrape("10:02", 60, 60)), together(stale)),
			in:    minutes("10:00", 3), cpu: line{100, gap, 0},
		},
		{
			name: "a marker with a scrape stands before it",
			given: together(scrape("10:00", 0, 0), scrape("10:00:45", 45, 0), stale,
				scrape("10:01:45", 75, 30)),
			in: minutes("10:00", 2), cpu: line{gap, 50},
		},
		{
			name: "another number of CPUs begins anew",
			given: together(scrape("10:00", 0, 0),
				partial("10:01", measurements.ModeUser, 60), partial("10:02", measurements.ModeUser, 120)),
			in: minutes("10:00", 3), cpu: line{gap, gap, 100},
		},
		{
			name: "so does another CPU",
			given: together(partial("10:00", measurements.ModeUser, 0),
				partial("10:01", 16+measurements.ModeUser, 60), partial("10:02", 16+measurements.ModeUser, 120)),
			in: minutes("10:00", 3), cpu: line{gap, gap, 100},
		},
		{
			name: "a scrape may come in parts",
			given: oneByOne(partial("10:00", measurements.ModeUser, 0), partial("10:01", measurements.ModeUser, 15),
				partial("10:00", measurements.ModeIdle, 0), partial("10:01", measurements.ModeIdle, 45)),
			in: minutes("10:01", 1), cpu: line{25},
		},
		{
			name:  "parts that are repeated change nothing",
			given: oneByOne(scrape("10:00", 0, 0), partial("10:00", measurements.ModeUser, 1000), scrape("10:01", 15, 45), partial("10:01", measurements.ModeIdle, 0)),
			in:    minutes("10:01", 1), cpu: line{25},
		},
		{
			name:  "a scrape that comes late cuts an interval in two",
			given: oneByOne(scrape("10:00", 0, 0), scrape("10:02", 60, 60), scrape("10:01", 60, 0)),
			in:    minutes("10:00", 3), cpu: line{gap, 100, 0},
		},
		{
			name:  "one that comes late at the end of an hour, too",
			given: oneByOne(scrape("10:55", 0, 0), scrape("11:03", 0, 480), scrape("10:59", 240, 0)),
			in:    hours("10:00", 2), cpu: line{100, gap},
		},
		{name: "counters that stand still say nothing", given: together(scrape("10:00", 5, 5), scrape("10:01", 5, 5)), in: minutes("10:01", 1), cpu: line{gap}},
		{
			name:  "scrapes of something else do not come between",
			given: together(scrape("10:00", 0, 0), memory("db01", "10:00:30", 40), scrape("10:01", 30, 30)),
			in:    minutes("10:00", 2), cpu: line{gap, 50}, mem: line{40, gap},
		},
	}
}

// hostMemory: reading 12.
func hostMemory() []hostCase {
	sample := func(when string, total, available, used float64) measurements.HostSample {
		return measurements.HostSample{Host: "db01", At: at(when), Memory: &measurements.MemoryBytes{Total: total, Available: available, Used: used}}
	}
	minute := minutes("10:00", 1)
	return []hostCase{
		{name: "used is what is not available", given: together(sample("10:00", 1000, 250, -1)), in: minute, mem: line{75}},
		{name: "whatever is called used beside it", given: together(sample("10:00", 1000, 250, 100)), in: minute, mem: line{75}},
		{name: "used, where nothing is said to be available", given: together(sample("10:00", 1000, -1, 400)), in: minute, mem: line{40}},
		{name: "more available than there is", given: together(sample("10:00", 1000, 2000, -1)), in: minute, mem: line{0}},
		{name: "of nothing there is no share", given: together(sample("10:00", 0, 0, -1)), in: minute, mem: line{gap}},
		{name: "one of the two is not enough", given: together(sample("10:00", -1, 250, -1)), in: minute, mem: line{gap}},
		{name: "in two messages", given: oneByOne(sample("10:00", -1, 250, -1), sample("10:00", 1000, 900, -1)), in: minute, mem: line{75}},
		{
			name:  "bytes and percentages weigh the same",
			given: together(sample("10:00:20", 1000, 800, -1), memory("db01", "10:00:30", 60), memory("db01", "10:00:40", 70)),
			in:    minute, mem: line{50},
		},
	}
}

// hostDisks: §4.4 and reading 12.
func hostDisks() []hostCase {
	bytes := func(mount string, size, free, available float64) measurements.Volume {
		return measurements.Volume{Mount: mount, Size: size, Free: free, Available: available}
	}
	minute := minutes("10:00", 1)
	cases := []hostCase{
		{
			name: "the fullest volume of all hosts at its peak",
			given: together(disk("db01", "10:00:10", volume("/", 50), volume("/data", 70)), disk("db01", "10:00:20", volume("/", 91), volume("/data", 40)),
				disk("db02", "10:00:30", volume("/", 60))),
			in: minute, disk: line{91}, hosts: 2,
		},
		{
			name:  "the peak of the day is that of one of its samples",
			given: together(disk("db01", "10:00", volume("/", 50)), disk("db01", "10:30", volume("/", 97)), disk("db01", "20:00", volume("/", 20))),
			in:    days("00:00", 1), disk: line{97},
		},
		{
			name:  "what is reserved is neither used nor available",
			given: together(disk("db01", "10:00", bytes("/data", 1000, 400, 200))), // 600 of 800, as df has it
			in:    minute, disk: line{75},
		},
		{
			name:  "sizes may come in three messages",
			given: oneByOne(disk("db01", "10:00", bytes("/", 1000, -1, -1)), disk("db01", "10:00", bytes("/", -1, -1, 200)), disk("db01", "10:00", bytes("/", -1, 400, -1))),
			in:    minute, disk: line{75},
		},
		{name: "two of the three are not enough", given: together(disk("db01", "10:00", bytes("/", 1000, 400, -1))), in: minute, disk: line{gap}},
		{name: "a volume of no size", given: together(disk("db01", "10:00", bytes("/", 0, 0, 0))), in: minute, disk: line{gap}},
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
			given: together(disk("db01", "10:00", volume(mount, 99), volume("/", 80))), in: minute, disk: want,
		})
	}
	return cases
}
