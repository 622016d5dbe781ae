package ownhost

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/shirou/gopsutil/v4/cpu"
	"github.com/shirou/gopsutil/v4/disk"
	"github.com/shirou/gopsutil/v4/mem"

	"muster/internal/measurements"
)

// Read takes what the machine says of itself. What cannot be read is missing in the
// sample, and the error says so.
func Read(ctx context.Context) (measurements.HostSample, error) {
	counters, cpuErr := readCPU(ctx)
	memory, memoryErr := readMemory(ctx)
	volumes, volumesErr := readVolumes(ctx)
	return measurements.HostSample{CPU: counters, Memory: memory, Volumes: volumes}, errors.Join(cpuErr, memoryErr, volumesErr)
}

func readCPU(ctx context.Context) ([]measurements.CPUCounter, error) {
	times, err := cpu.TimesWithContext(ctx, true)
	if err != nil {
		return nil, fmt.Errorf("read the CPUs' times: %w", err)
	}
	return counters(times)
}

func counters(times []cpu.TimesStat) ([]measurements.CPUCounter, error) {
	var all []measurements.CPUCounter
	for _, t := range times {
		number, err := strconv.ParseInt(strings.TrimPrefix(t.CPU, "cpu"), 10, 27)
		if err != nil {
			return nil, fmt.Errorf("which CPU is %q: %w", t.CPU, err)
		}
		for mode, seconds := range map[int32]float64{
			measurements.ModeUser: t.User, measurements.ModeNice: t.Nice, measurements.ModeSystem: t.System,
			measurements.ModeIdle: t.Idle, measurements.ModeIOWait: t.Iowait, measurements.ModeIRQ: t.Irq,
			measurements.ModeSoftIRQ: t.Softirq, measurements.ModeSteal: t.Steal,
		} {
			all = append(all, measurements.CPUCounter{Code: 16*int32(number) + mode, Seconds: seconds})
		}
	}
	return measurements.SortCPU(all), nil
}

func readMemory(ctx context.Context) (*measurements.MemoryBytes, error) {
	m, err := mem.VirtualMemoryWithContext(ctx)
	if err != nil {
		return nil, fmt.Errorf("read the memory: %w", err)
	}
	return &measurements.MemoryBytes{Total: float64(m.Total), Available: float64(m.Available), Used: -1}, nil
}

// readVolumes lists the file systems that have a device, each once, and the root
// whatever it is on, as in a container.
func readVolumes(ctx context.Context) ([]measurements.Volume, error) {
	partitions, err := disk.PartitionsWithContext(ctx, false)
	if err != nil {
		return nil, fmt.Errorf("list the volumes: %w", err)
	}
	var volumes []measurements.Volume
	var errs []error
	for _, mount := range mounts(partitions) {
		usage, err := disk.UsageWithContext(ctx, mount)
		if err != nil {
			errs = append(errs, fmt.Errorf("read how full a volume is: %w", err))
			continue
		}
		if usage.Total == 0 {
			continue
		}
		volumes = append(volumes, measurements.Volume{
			// What gopsutil calls free is what others than root may use.
			Mount: mount, Size: float64(usage.Total), Free: float64(usage.Total) - float64(usage.Used), Available: float64(usage.Free),
		})
	}
	return volumes, errors.Join(errs...)
}

// mounts are where the volumes are, one place each: the shortest, for a device that is
// mounted at several. Those that cannot fill are left out.
func mounts(partitions []disk.PartitionStat) []string {
	slices.SortStableFunc(partitions, func(a, b disk.PartitionStat) int {
		return cmp.Or(cmp.Compare(len(a.Mountpoint), len(b.Mountpoint)), cmp.Compare(a.Mountpoint, b.Mountpoint))
	})
	found := []string{"/"}
	seen := make(map[string]bool)
	for _, p := range partitions {
		readOnly := slices.Contains(p.Opts, "ro") || slices.Contains(p.Opts, "read-only") // macOS has the latter
		if readOnly && p.Mountpoint == "/" {
			found = nil
		}
		if readOnly || measurements.NeverFills(p.Fstype, p.Device, p.Mountpoint) || seen[p.Device] {
			continue
		}
		seen[p.Device] = true
		if p.Mountpoint != "/" {
			found = append(found, p.Mountpoint)
		}
	}
	return found
}
