package ownhost

import (
	"context"
	"log/slog"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"

	"muster/domain/fleet"
	"muster/domain/timegrid"
	"muster/internal/assessment"
	"muster/internal/intake/push"
	"muster/internal/measurements"
	"muster/internal/measurements/pgstore"
	"muster/internal/servers"
	"muster/internal/testing/clocktest"
	"muster/internal/testing/pgtest"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Run(m)) }

func TestTheMachineIsRead(t *testing.T) {
	t.Parallel()
	sample, err := Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if n := len(sample.CPU); n == 0 || n%8 != 0 || n/8 < runtime.GOMAXPROCS(0) || !slices.IsSortedFunc(sample.CPU, func(a, b measurements.CPUCounter) int { return int(a.Code - b.Code) }) {
		t.Errorf("%d counters of CPUs", n)
	}
	if m := sample.Memory; m.Total <= 0 || m.Available <= 0 || m.Available > m.Total {
		t.Errorf("%+v", m)
	}
	root := slices.IndexFunc(sample.Volumes, func(v measurements.Volume) bool { return v.Mount == "/" })
	if root < 0 {
		t.Fatalf("no root among %+v", sample.Volumes)
	}
	if v := sample.Volumes[root]; v.Free < v.Available || v.Size <= 0 || v.Free > v.Size {
		t.Errorf("%+v", v)
	}
}

func TestCounters(t *testing.T) {
	t.Parallel()
	got, err := counters([]cpu.TimesStat{
		{CPU: "cpu1", User: 1, System: 2, Idle: 3, Nice: 4, Iowait: 5, Irq: 6, Softirq: 7, Steal: 8, Guest: 100, GuestNice: 100},
		{CPU: "cpu0", Idle: 9},
	})
	want := []measurements.CPUCounter{{Code: 0, Seconds: 0}, {Code: 1, Seconds: 0}, {Code: 2, Seconds: 0}, {Code: 3, Seconds: 9}, {Code: 4, Seconds: 0}, {Code: 5, Seconds: 0}, {Code: 6, Seconds: 0}, {Code: 7, Seconds: 0}, {Code: 16, Seconds: 1}, {Code: 17, Seconds: 4}, {Code: 18, Seconds: 2}, {Code: 19, Seconds: 3}, {Code: 20, Seconds: 5}, {Code: 21, Seconds: 6}, {Code: 22, Seconds: 7}, {Code: 23, Seconds: 8}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Error(err, diff)
	}
	if _, err := counters([]cpu.TimesStat{{CPU: "cpu-total"}}); err == nil {
		t.Error("the sum of all was taken for one")
	}
}

func TestMounts(t *testing.T) {
	t.Parallel()
	got := mounts([]disk.PartitionStat{
		{Device: "/dev/sdb", Mountpoint: "/srv/data", Fstype: "xfs"}, {Device: "/dev/sda", Mountpoint: "/etc/hosts", Fstype: "ext4"},
		{Device: "/dev/sda", Mountpoint: "/", Fstype: "ext4"}, {Device: "/dev/sdb", Mountpoint: "/srv", Fstype: "xfs"},
		{Device: "/dev/loop0", Mountpoint: "/opt/x", Fstype: "squashfs"}, {Device: "/dev/sr0", Mountpoint: "/cdrom", Fstype: "iso9660"},
		{Device: "/dev/sr1", Mountpoint: "/dvd", Fstype: "udf"}, {Device: "/dev/sdc", Mountpoint: "/golden", Fstype: "ext4", Opts: []string{"ro", "relatime"}}, // C13
	})
	if diff := cmp.Diff([]string{"/", "/srv"}, got); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]string{"/"}, mounts(nil)); diff != "" {
		t.Errorf("in a container: %s", diff)
	}
}

func TestServersOnTheOwnHost(t *testing.T) {
	t.Parallel()
	m := Machine{"db01.example.org", []netip.Addr{netip.MustParseAddr("192.0.2.7"), netip.MustParseAddr("fe80::1%eth0")}}
	for host, want := range map[string]bool{
		"/run/postgresql": true, "localhost": true, "127.0.0.1": true, "127.8.0.1": true, "::1": true, "::ffff:192.0.2.7": true,
		"DB01.example.org": true, "db01": true, "192.0.2.7": true, "fe80::1": true,
		"192.0.2.8": false, "db02": false, "db01.example.com": false, "localhost.example.org": false,
	} {
		if got := m.Has(servers.Target{Host: host}); got != want {
			t.Errorf("%s is here: %t", host, got)
		}
	}
}

// connections are registered ones, in memory: how they are stored is not ours to test.
type connections map[assessment.Registered]string

func (c connections) Registered(context.Context) (all []assessment.Registered, _ error) {
	for r := range c {
		all = append(all, r)
	}
	slices.SortFunc(all, func(a, b assessment.Registered) int { return slices.Compare(a.Organization[:], b.Organization[:]) })
	return all, nil
}

func (c connections) Credentials(_ context.Context, organization, instance uuid.UUID) (assessment.Credentials, bool, error) {
	for r, dsn := range c {
		if r.Organization == organization && r.Instance == instance {
			return assessment.Credentials{Engine: fleet.PostgreSQL, DSN: dsn}, true, nil
		}
	}
	return assessment.Credentials{}, false, nil
}

func TestTheOwnHostBelongsToItsOrganizations(t *testing.T) {
	t.Parallel()
	acme, other, here, away := uuid.UUID{1}, uuid.UUID{2}, uuid.UUID{3}, uuid.UUID{4}
	at := func(organization, instance uuid.UUID) assessment.Registered {
		return assessment.Registered{Organization: organization, Instance: instance, Revision: "1"}
	}
	for name, test := range map[string]struct {
		registered    connections
		organizations []uuid.UUID
		hosts         []string
		want          []ownPlace
	}{
		"nothing is registered, one organization":  {nil, []uuid.UUID{acme}, nil, []ownPlace{{organization: acme}}},
		"nothing is registered, two organizations": {nil, []uuid.UUID{acme, other}, nil, nil},
		"no organization yet":                      {nil, nil, nil, nil},
		// F22. A machine that runs Muster alone is no host of the servers elsewhere.
		"servers elsewhere": {
			connections{at(acme, away): "postgres://u@db09/postgres"}, []uuid.UUID{acme}, []string{"db09"}, nil,
		},
		"servers that agents feed, elsewhere": {nil, []uuid.UUID{acme}, []string{"", "db09"}, nil},
		"a server that an agent feeds, here":  {nil, []uuid.UUID{acme}, []string{"db09", "DB01."}, []ownPlace{{organization: acme}}},
		"a server here": {
			connections{at(acme, here): "postgres://u@/postgres?host=/run", at(acme, away): "postgres://u@db09/postgres"},
			[]uuid.UUID{acme}, nil, []ownPlace{{acme, []uuid.UUID{here}}},
		},
		"of one of two organizations": {
			connections{at(other, here): "postgres://u@localhost/postgres", at(acme, away): "postgres://u@db09/postgres"},
			[]uuid.UUID{acme, other}, nil, []ownPlace{{other, []uuid.UUID{here}}},
		},
		"of both": {
			connections{at(acme, here): "postgres://u@127.0.0.1/postgres", at(other, away): "postgres://u@[::1]/postgres"},
			[]uuid.UUID{acme, other}, nil, []ownPlace{{acme, []uuid.UUID{here}}, {other, []uuid.UUID{away}}},
		},
	} {
		h := &Host{
			Connections: test.registered, Organizations: func(context.Context) ([]uuid.UUID, error) { return test.organizations, nil },
			Hosts: func(context.Context, uuid.UUID) ([]string, error) { return test.hosts, nil },
		}
		for range 2 { // the second time what is known is not opened again
			got, err := h.places(t.Context(), Machine{Name: "db01"})
			if diff := cmp.Diff(test.want, got, cmp.AllowUnexported(ownPlace{})); err != nil || diff != "" {
				t.Errorf("%s: %v %s", name, err, diff)
			}
		}
	}
}

// untilCountersMove waits for the CPUs' counters, which count in hundredths of a second.
func untilCountersMove(t *testing.T) {
	t.Helper()
	total := func() (seconds float64) {
		c, err := readCPU(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, counter := range c {
			seconds += counter.Seconds
		}
		return seconds
	}
	for before := total(); total() == before; {
	}
}

// TestTheTileShowsTheMachine takes two samples through the real intake.
func TestTheTileShowsTheMachine(t *testing.T) {
	t.Parallel()
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	db := pgtest.DB(t)
	store := pgstore.New(db, slog.New(slog.DiscardHandler))
	clock := clocktest.At(time.Now().Truncate(time.Hour).Add(time.Minute))
	organization := uuid.New()
	h := &Host{
		Connections: connections{}, Organizations: func(context.Context) ([]uuid.UUID, error) { return []uuid.UUID{organization}, nil },
		Hosts:  func(context.Context, uuid.UUID) ([]string, error) { return nil, nil },
		Intake: &push.Intake{DB: db, Store: store, Now: clock.Now}, Now: clock.Now,
	}
	for range 2 {
		untilCountersMove(t)
		clock.Advance(Every)
		if err := h.measure(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := store.Roll(t.Context()); err != nil {
		t.Fatal(err)
	}
	w := timegrid.Window{From: clock.Now(), To: clock.Now().Add(time.Second), Size: timegrid.Minute}
	got, err := store.Utilization(t.Context(), organization, measurements.HostScope{}, w)
	if err != nil {
		t.Fatal(err)
	}
	for resource, line := range map[string]measurements.Values{"CPU": got.CPUPercent, "memory": got.MemoryPercent, "disk": got.DiskPercent} {
		if len(line) != 1 || !(line[0] >= 0 && line[0] <= 100) {
			t.Errorf("%s of %s: %v", resource, name, line)
		}
	}
	if got.HostCount != 1 {
		t.Errorf("%d hosts", got.HostCount)
	}
}
