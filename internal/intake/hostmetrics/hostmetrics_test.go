package hostmetrics_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"muster/internal/intake"
	"muster/internal/intake/hostmetrics"
	"muster/internal/intake/hostmetrics/hostmetricstest"
	"muster/internal/measurements"
)

var receipt = time.Date(2026, 11, 20, 10, 0, 0, 0, time.UTC)

// labels are those of a point; names and values in turn, as set takes them.
func labels(set func(*hostmetrics.Labels) func(name, value []byte), pairs ...string) *hostmetrics.Labels {
	l := &hostmetrics.Labels{Address: []byte("db01:9100")}
	for i := 0; i < len(pairs); i += 2 {
		set(l)([]byte(pairs[i]), []byte(pairs[i+1]))
	}
	return l
}

func exporter(l *hostmetrics.Labels) func(name, value []byte)  { return l.SetPrometheus }
func collector(l *hostmetrics.Labels) func(name, value []byte) { return l.SetAttribute }

// addSample gives a message a point of node_exporter.
func addSample(m *hostmetrics.Message, name string, at time.Time, value float64, pairs ...string) {
	series := m.Series(hostmetrics.NodeExporter([]byte(name)), labels(exporter, pairs...))
	series.Add(at, value)
}

// end is Samples, whose counts have to fit.
func end(t *testing.T, m *hostmetrics.Message) []hostmetrics.Sample {
	t.Helper()
	samples := m.Samples()
	hostmetricstest.Check(t, m, samples, receipt)
	return samples
}

// TestNames: the allow-list of each agent, and nothing near it.
func TestNames(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]hostmetrics.Metric{
		"node_cpu_seconds_total": hostmetrics.CPUSeconds, "node_memory_MemTotal_bytes": hostmetrics.MemoryTotal,
		"node_memory_MemAvailable_bytes": hostmetrics.MemoryAvailable, "node_filesystem_size_bytes": hostmetrics.VolumeSize,
		"node_filesystem_free_bytes": hostmetrics.VolumeFree, "node_filesystem_avail_bytes": hostmetrics.VolumeAvailable,
		"": 0, "node_cpu": 0, "node_cpu_guest_seconds_total": 0, "node_memory_MemFree_bytes": 0, "node_memory_SwapTotal_bytes": 0,
		"node_filesystem_files": 0, "NODE_CPU_SECONDS_TOTAL": 0, "system.cpu.time": 0,
	} {
		if got := hostmetrics.NodeExporter([]byte(name)); got != want {
			t.Errorf("node_exporter's %q means %d", name, got)
		}
	}
	for name, want := range map[string]hostmetrics.Metric{
		"system.cpu.time": hostmetrics.CPUSeconds, "system.memory.limit": hostmetrics.MemoryTotal,
		"system.linux.memory.available": hostmetrics.MemoryAvailable, "system.memory.usage": hostmetrics.MemoryUsage,
		"system.filesystem.usage": hostmetrics.VolumeUsage,
		"":                        0, "system.cpu.utilization": 0, "system.memory.utilization": 0, "system.paging.usage": 0, "system.filesystem.inodes.usage": 0,
		"node_cpu_seconds_total": 0,
	} {
		if got := hostmetrics.OpenTelemetry([]byte(name)); got != want {
			t.Errorf("the receiver's %q means %d", name, got)
		}
	}
}

// TestModes: the mode as which a CPU's time counts, and the CPU's number.
func TestModes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		cpu, mode string
		code      int32
		dropped   intake.Reason
	}{
		{"0", "user", measurements.ModeUser, ""},
		{"0", "nice", measurements.ModeNice, ""},
		{"0", "system", measurements.ModeSystem, ""},
		{"0", "idle", measurements.ModeIdle, ""},
		{"0", "iowait", measurements.ModeIOWait, ""},
		{"0", "wait", measurements.ModeIOWait, ""},
		{"0", "irq", measurements.ModeIRQ, ""},
		{"0", "interrupt", measurements.ModeIRQ, ""},
		{"0", "softirq", measurements.ModeSoftIRQ, ""},
		{"0", "steal", measurements.ModeSteal, ""},
		{"0", "kernel", measurements.ModeOther, ""},
		{"0", "guest", 0, intake.NotUsed},
		{"0", "guest_nice", 0, intake.NotUsed},
		{"0", "", 0, intake.Incomplete},
		{"cpu3", "idle", 3*16 + measurements.ModeIdle, ""},
		{"65535", "steal", 65535*16 + measurements.ModeSteal, ""},
		{"", "idle", measurements.ModeIdle, ""}, // all of them as one
		{"65536", "idle", 0, intake.Unsupported},
		{"100000", "idle", 0, intake.Unsupported},
		{"cpu", "idle", 0, intake.Unsupported},
		{"cpu-total", "idle", 0, intake.Unsupported},
		{"-1", "idle", 0, intake.Unsupported},
	} {
		m := hostmetrics.New(receipt)
		addSample(m, "node_cpu_seconds_total", receipt, 1.5, "cpu", c.cpu, "mode", c.mode)
		got := end(t, m)
		if c.dropped != "" {
			if len(got) != 0 || m.Dropped[c.dropped] != 1 {
				t.Errorf("CPU %q, mode %q: %+v, dropped %v", c.cpu, c.mode, got, m.Dropped)
			}
			continue
		}
		if len(got) != 1 || !cmp.Equal(got[0].CPU, []measurements.CPUCounter{{Code: c.code, Seconds: 1.5}}) {
			t.Errorf("CPU %q, mode %q: %+v, dropped %v", c.cpu, c.mode, got, m.Dropped)
		}
	}
}

// TestHosts: whose a series is. host.name is as it stands, an address loses its port.
func TestHosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ address, name, want string }{
		{"db01:9100", "", "db01"}, {"db01", "", "db01"}, {"db01:", "", "db01"}, {"db01.example.org:9100", "", "db01.example.org"},
		{"10.0.0.1:9100", "", "10.0.0.1"}, {"10.0.0.1", "", "10.0.0.1"},
		{"[2001:db8::1]:9100", "", "2001:db8::1"}, {"[2001:db8::1]", "", "2001:db8::1"}, {"2001:db8::1", "", "2001:db8::1"},
		{"[fe80::1%eth0]:9100", "", "fe80::1"}, {"::", "", "::"},
		{"DB7.Example.ORG.:9100", "", "db7.example.org"}, {"http://db7:9187/metrics", "", "db7"}, {"[::ffff:192.0.2.7]:1", "", "192.0.2.7"}, {"", "SQL01", "sql01"}, // C14
		{"db01:9100", "db02", "db02"}, {"", "db02:9100", "db02:9100"}, {"", "::1", "::1"},
		{"", "", ""}, {":9100", "", ""}, {"[]:9100", "", ""}, {"[", "", ""},
	} {
		m := hostmetrics.New(receipt)
		l := &hostmetrics.Labels{Address: []byte(c.address), Host: []byte(c.name)}
		series := m.Series(hostmetrics.MemoryTotal, l)
		series.Add(receipt, 1)
		got := end(t, m)
		if c.want == "" && (len(got) != 0 || m.Dropped[intake.NoHost] != 1) || c.want != "" && (len(got) != 1 || got[0].Host != c.want) {
			t.Errorf("%q, %q: %+v, dropped %v", c.address, c.name, got, m.Dropped)
		}
	}
}

// TestVolumes: the inputs of df, as far as this message has them.
func TestVolumes(t *testing.T) {
	t.Parallel()
	type told struct {
		name  string
		bytes float64
		more  []string
	}
	for name, c := range map[string]struct {
		told    []told
		want    []measurements.Volume
		dropped map[intake.Reason]int
	}{
		"all three sizes": {[]told{{"size", 100, nil}, {"free", 70, nil}, {"avail", 45, nil}},
			[]measurements.Volume{{Mount: "/", Size: 100, Free: 70, Available: 45}}, nil},
		"the first of one that comes twice": {[]told{{"size", 100, nil}, {"size", 200, nil}},
			[]measurements.Volume{{Mount: "/", Size: 100, Free: -1, Available: -1}}, nil},
		"full": {[]told{{"size", 100, nil}, {"free", 0, nil}, {"avail", 0, nil}},
			[]measurements.Volume{{Mount: "/", Size: 100, Free: 0, Available: 0}}, nil},
		"of no size": {[]told{{"size", 0, nil}, {"free", 0, nil}, {"avail", 0, nil}}, nil, map[intake.Reason]int{intake.NotUsed: 3}},
		"squashfs":   {[]told{{"size", 9, []string{"fstype", "squashfs"}}}, nil, map[intake.Reason]int{intake.NotUsed: 1}},
		"as large as some network file systems say": {[]told{{"size", math.MaxInt64, nil}},
			[]measurements.Volume{{Mount: "/", Size: 1 << 63, Free: -1, Available: -1}}, nil},
		"read-only": {[]told{{"size", 100, nil}, {"readonly", 1, nil}, {"free", 0, nil}, {"avail", 0, nil}}, // C13
			[]measurements.Volume{{Mount: "/", Size: 100, Free: 0, Available: 0, ReadOnly: true}}, nil},
		"read-only, by a message of its own": {[]told{{"readonly", 1, nil}}, []measurements.Volume{{Mount: "/", Size: -1, Free: -1, Available: -1, ReadOnly: true}}, nil},
		"that can be written to":             {[]told{{"readonly", 0, nil}}, nil, map[intake.Reason]int{intake.NotUsed: 1}},
		"FreeBSD's, more than full: C30": {[]told{{"size", 100, nil}, {"free", 3, nil}, {"avail", -5, nil}},
			[]measurements.Volume{{Mount: "/", Size: 100, Free: 3, Available: 0}}, nil},
		"a size below nothing": {[]told{{"size", -1, nil}, {"free", -1, nil}}, nil, map[intake.Reason]int{intake.OutOfRange: 2}},
		// Which mounts count is the store's to say, and the same for every door.
		"/boot": {[]told{{"size", 9, []string{"mountpoint", "/boot"}}},
			[]measurements.Volume{{Mount: "/boot", Size: 9, Free: -1, Available: -1}}, nil},
		"tmpfs": {[]told{{"size", 9, []string{"mountpoint", "/run", "fstype", "tmpfs"}}},
			[]measurements.Volume{{Mount: "/run", Size: 9, Free: -1, Available: -1}}, nil},
		"two at one place, the one that is told in full": {
			[]told{{"size", 9, []string{"device", "a"}}, {"size", 10, []string{"device", "b"}}, {"free", 5, []string{"device", "b"}}},
			[]measurements.Volume{{Mount: "/", Size: 10, Free: 5, Available: -1}}, map[intake.Reason]int{intake.NotUsed: 1}},
		"two at one place, alike: the first": {
			[]told{{"size", 9, []string{"device", "a"}}, {"size", 10, []string{"device", "b"}}},
			[]measurements.Volume{{Mount: "/", Size: 9, Free: -1, Available: -1}}, map[intake.Reason]int{intake.NotUsed: 1}},
	} {
		m := hostmetrics.New(receipt)
		for _, of := range c.told {
			addSample(m, strings.Replace("node_filesystem_"+of.name+"_bytes", "readonly_bytes", "readonly", 1), receipt, of.bytes, append([]string{"mountpoint", "/", "fstype", "ext4"}, of.more...)...)
		}
		var got []measurements.Volume
		for _, s := range end(t, m) {
			got = append(got, s.Volumes...)
		}
		if c.dropped == nil {
			c.dropped = map[intake.Reason]int{}
		}
		if diff := cmp.Diff(c.want, got) + cmp.Diff(c.dropped, m.Dropped); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestStates: the collector's states of a file system are percentages already.
func TestStates(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		used, free, reserved float64 // -1: not told
		want                 float64 // -1: nothing
		dropped              map[intake.Reason]int
	}{
		"reserved does not count": {70, 30, 5, 70, map[intake.Reason]int{intake.NotUsed: 1}},
		"empty":                   {0, 10, -1, 0, map[intake.Reason]int{}},
		"full":                    {10, 0, -1, 100, map[intake.Reason]int{}},
		"of no size":              {0, 0, -1, -1, map[intake.Reason]int{intake.NotUsed: 2}},
		"half":                    {10, -1, -1, -1, map[intake.Reason]int{intake.Incomplete: 1}},
		"the other half":          {-1, 10, -1, -1, map[intake.Reason]int{intake.Incomplete: 1}},
	} {
		m := hostmetrics.New(receipt)
		for state, bytes := range map[string]float64{"used": c.used, "free": c.free, "reserved": c.reserved} {
			if bytes >= 0 {
				series := m.Series(hostmetrics.VolumeUsage, labels(collector, "mountpoint", "/", "state", state))
				series.Add(receipt, bytes)
			}
		}
		got := -1.0
		for _, s := range end(t, m) {
			got = *s.Volumes[0].UsedPercent
		}
		if got != c.want || !cmp.Equal(m.Dropped, c.dropped) {
			t.Errorf("%s: %v, dropped %v", name, got, m.Dropped)
		}
	}
}

// TestStale: the end of the CPU's counters is one of the host; that of anything else
// is not.
func TestStale(t *testing.T) {
	t.Parallel()
	m := hostmetrics.New(receipt)
	addSample(m, "node_memory_MemTotal_bytes", receipt, 1)
	for _, metric := range []hostmetrics.Metric{hostmetrics.MemoryTotal, hostmetrics.VolumeSize} {
		series := m.Series(metric, labels(exporter, "mountpoint", "/"))
		series.Stale(receipt)
	}
	series := m.Series(hostmetrics.CPUSeconds, labels(exporter, "cpu", "1", "mode", "idle"))
	series.Stale(receipt.Add(time.Second))
	series.Stale(receipt.Add(time.Hour))
	want := []hostmetrics.Sample{
		{HostSample: measurements.HostSample{Host: "db01", At: receipt, Memory: &measurements.MemoryBytes{Total: 1, Available: -1, Used: -1}}, Points: 1},
		{HostSample: measurements.HostSample{Host: "db01", At: receipt.Add(time.Second), Stale: true}, Points: 1},
	}
	if diff := cmp.Diff(want, end(t, m)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !cmp.Equal(m.Dropped, map[intake.Reason]int{intake.NotUsed: 2, intake.TimeInFuture: 1}) {
		t.Errorf("dropped %v", m.Dropped)
	}
}

// TestTimes: those of a host are whole microseconds after 1970, up to five minutes ahead.
func TestTimes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at      time.Time
		dropped intake.Reason
	}{
		"now":                             {receipt, ""},
		"five minutes ahead":              {receipt.Add(5 * time.Minute), ""},
		"a little more":                   {receipt.Add(5*time.Minute + 1), intake.TimeInFuture},
		"the first microsecond":           {time.Unix(0, 1000), ""},
		"less than a microsecond":         {time.Unix(0, 999), intake.InvalidTime},
		"1970":                            {time.Unix(0, 0), intake.InvalidTime},
		"before":                          {time.Unix(-1, 0), intake.InvalidTime},
		"none":                            {time.Time{}, intake.InvalidTime},
		"what 64 bits of milliseconds do": {time.UnixMilli(math.MaxInt64), intake.TimeInFuture},
	} {
		m := hostmetrics.New(receipt)
		addSample(m, "node_memory_MemTotal_bytes", c.at, 1)
		if got := end(t, m); c.dropped == "" && len(got) != 1 || c.dropped != "" && (len(got) != 0 || m.Dropped[c.dropped] != 1) {
			t.Errorf("%s: %+v, dropped %v", name, got, m.Dropped)
		}
	}
}

// TestBounds: a message makes up no more than so much, of whatever it makes up.
func TestBounds(t *testing.T) {
	t.Parallel()
	at := func(i int) time.Time { return time.UnixMilli(int64(i) + 1) }
	for name, c := range map[string]struct {
		make    func(m *hostmetrics.Message)
		samples int
		points  int
	}{
		"points of one CPU": {func(m *hostmetrics.Message) {
			series := m.Series(hostmetrics.CPUSeconds, labels(exporter, "cpu", "0", "mode", "user"))
			for range 1<<16 + 7 {
				series.Add(receipt, 1)
			}
		}, 1, 1 << 16},
		"volumes of many scrapes": {func(m *hostmetrics.Message) {
			for v := range 300 {
				series := m.Series(hostmetrics.VolumeFree, labels(exporter, "mountpoint", fmt.Sprint("/", v)))
				for i := range 2000 {
					series.Add(at(i), 0)
				}
			}
		}, 2000, hostmetrics.MaxPoints},
		"volumes of one scrape": {func(m *hostmetrics.Message) {
			for v := range 1003 {
				addSample(m, "node_filesystem_free_bytes", receipt, 0, "mountpoint", fmt.Sprint("/", v))
			}
		}, 1, 1000},
		"scrapes": {func(m *hostmetrics.Message) {
			series := m.Series(hostmetrics.MemoryTotal, labels(exporter))
			for i := range hostmetrics.MaxSamples + 9 {
				series.Add(at(i), 1)
			}
		}, hostmetrics.MaxSamples, hostmetrics.MaxSamples},
	} {
		m := hostmetrics.New(receipt)
		c.make(m)
		got := end(t, m)
		points := 0
		for _, s := range got {
			points += s.Points
		}
		if len(got) != c.samples || points != c.points || m.Dropped[intake.TooMany] != m.Received-points || m.Received == points {
			t.Errorf("%s: %d samples of %d points, of %d received; dropped %v", name, len(got), points, m.Received, m.Dropped)
		}
	}
	m := hostmetrics.New(receipt)
	for i := range 103 {
		addSample(m, "node_memory_MemTotal_bytes", receipt, 1, "muster_instance", fmt.Sprint("pg", i))
	}
	addSample(m, "node_memory_MemTotal_bytes", receipt, 1, "muster_instance", strings.Repeat("x", 256))
	if got := end(t, m); len(got[0].References) != 100 {
		t.Errorf("%d instances run on a host", len(got[0].References))
	}
}

// TestFileSystemsThatCannotFill: media, images and what is no room of its own never count,
// by either sender; memory does, and so does the root of a container. C13.
func TestFileSystemsThatCannotFill(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind, device, mount string
		counts              bool
	}{
		{"ext4", "/dev/sda1", "/", true}, {"tmpfs", "tmpfs", "/run", true}, {"overlay", "overlay", "/", true}, {"fuse.sshfs", "a:/b", "/mnt", true},
		{"nfs4", "nas:/x", "/mnt", true}, {"zfs", "tank/a", "/a", true}, {"NTFS", "C:", "C:", true}, {"fuseblk", "/dev/sdb1", "/mnt/usb", true},
		{"iso9660", "/dev/sr0", "/media/cd", false}, {"udf", "/dev/sr0", "/media/dvd", false}, {"erofs", "/dev/loop1", "/run/ro", false},
		{"squashfs", "/dev/loop0", "/opt/x", false}, {"fuse.snapfuse", "snapfuse", "/var/lib/snapd/snap/core/1", false},
		{"fuse.Editor.AppImage", "Editor.AppImage", "/tmp/.mount_Editor", false}, {"fuse", "/opt/Editor.AppImage", "/x", false}, {"fuse.squashfuse_ll", "x", "/x", false},
		{"fuse", "cvmfs2", "/cvmfs/atlas", false}, {"fuse.cvmfs2", "x", "/cvmfs/cms", false}, {"efivarfs", "efivarfs", "/sys/firmware/efi/efivars", false},
		{"autofs", "systemd-1", "/proc/sys/fs/binfmt_misc", false}, {"autofs", "auto.home", "/home", false},
		{"overlay", "overlay", "/var/lib/docker/overlay2/a/merged", false}, {"CDFS", "D:", "D:", false}, {"UDF", "E:", "E:", false}, {"cd9660", "/dev/cd0", "/cdrom", false},
	} {
		for _, sender := range []string{"node_exporter", "collector", "collector, mode ro"} {
			m := hostmetrics.New(receipt)
			l := &hostmetrics.Labels{Address: []byte("a"), Mount: []byte(c.mount), Type: []byte(c.kind), Device: []byte(c.device)}
			if sender == "node_exporter" {
				series := m.Series(hostmetrics.VolumeSize, l)
				series.Add(receipt, 1)
			} else {
				if sender != "collector" {
					l.SetAttribute([]byte("mode"), []byte("ro"))
				}
				for _, state := range []string{"used", "free"} {
					l.State = []byte(state)
					series := m.Series(hostmetrics.VolumeUsage, l)
					series.Add(receipt, 1)
				}
			}
			if counts := len(end(t, m)) == 1; counts != (c.counts && sender != "collector, mode ro") {
				t.Errorf("%s of %s at %s by %s counts: %v", c.kind, c.device, c.mount, sender, counts)
			}
		}
	}
}
