package hostmetrics

import (
	"bytes"

	"muster/internal/measurements"
)

// Metric is the meaning of an agent's metric name. The zero value is a metric that is not read.
type Metric int

// The metrics.
const (
	CPUSeconds      Metric = iota + 1 // by CPU and state
	MemoryTotal                       // bytes, as those that follow
	MemoryAvailable                   //
	MemoryUsage                       // by state
	VolumeSize                        // by mount point, as those that follow
	VolumeFree                        // for root
	VolumeAvailable                   // for everybody else
	VolumeUsage                       // by state
	VolumeReadOnly                    // 1 or 0
	VolumeRoom                        // the free space, for root and all others
	VolumeInfo                        // 1; its labels say what it is
)

var nodeExporter = map[string]Metric{
	"node_cpu_seconds_total":         CPUSeconds,
	"node_memory_MemTotal_bytes":     MemoryTotal,
	"node_memory_MemAvailable_bytes": MemoryAvailable,
	"node_filesystem_size_bytes":     VolumeSize,
	"node_filesystem_free_bytes":     VolumeFree,
	"node_filesystem_avail_bytes":    VolumeAvailable,
	"node_filesystem_readonly":       VolumeReadOnly,
}

// NodeExporter says what a name of node_exporter means.
func NodeExporter(name []byte) Metric { return nodeExporter[string(name)] }

// windowsExporter has the names that windows_exporter had before 0.30, too.
var windowsExporter = map[string]Metric{
	"windows_cpu_time_total":                CPUSeconds,
	"windows_memory_physical_total_bytes":   MemoryTotal,
	"windows_cs_physical_memory_bytes":      MemoryTotal,
	"windows_os_visible_memory_bytes":       MemoryTotal,
	"windows_memory_available_bytes":        MemoryAvailable,
	"windows_memory_physical_free_bytes":    MemoryAvailable,
	"windows_os_physical_memory_free_bytes": MemoryAvailable,
	"windows_logical_disk_size_bytes":       VolumeSize,
	"windows_logical_disk_free_bytes":       VolumeRoom,
	"windows_logical_disk_readonly":         VolumeReadOnly,
	"windows_logical_disk_info":             VolumeInfo,
}

// WindowsExporter says what a name of windows_exporter means.
func WindowsExporter(name []byte) Metric { return windowsExporter[string(name)] }

var openTelemetry = map[string]Metric{
	"system.cpu.time":               CPUSeconds,
	"system.memory.limit":           MemoryTotal,
	"system.linux.memory.available": MemoryAvailable,
	"system.memory.usage":           MemoryUsage,
	"system.filesystem.usage":       VolumeUsage,
}

// OpenTelemetry says what a name of the hostmetrics receiver means.
func OpenTelemetry(name []byte) Metric { return openTelemetry[string(name)] }

// Labels are those of a series that are read, as bytes of the message. An empty one
// is not there.
type Labels struct {
	Name     []byte // __name__
	Address  []byte // label instance: the host, perhaps with a port
	Host     []byte // host.name
	Instance []byte // muster_instance
	CPU      []byte
	State    []byte // of a CPU, of memory or of a file system
	Mount    []byte
	Type     []byte // of a file system
	Device   []byte
	Access   []byte // to a file system: ro, rw
	Drive    []byte // on Windows: fixed, cdrom, …
}

// SetPrometheus stores a label of node_exporter's series, if it is one that is read.
func (l *Labels) SetPrometheus(name, value []byte) {
	switch string(name) {
	case "instance":
		l.Address = value
	case "muster_instance":
		l.Instance = value
	case "cpu":
		l.CPU = value
	case "mode":
		l.State = value
	case "mountpoint":
		l.Mount = value
	case "fstype":
		l.Type = value
	case "device":
		l.Device = value
	case "core": // those that follow are windows_exporter's
		l.CPU = value
	case "volume":
		l.Mount = value
	case "filesystem":
		l.Type = value
	case "type":
		l.Drive = value
	}
}

// onWindows is whether a CPU is called as windows_exporter does: 0,3.
func (l *Labels) onWindows() bool { return bytes.IndexByte(l.CPU, ',') >= 0 }

// SetResource keeps an attribute of an OpenTelemetry resource.
func (l *Labels) SetResource(name, value []byte) {
	switch string(name) {
	case "host.name":
		l.Host = value
	case "muster_instance":
		l.Instance = value
	}
}

// SetAttribute keeps an attribute of an OpenTelemetry data point: the names that the
// collector uses, and those that the semantic conventions have had since.
func (l *Labels) SetAttribute(name, value []byte) {
	switch string(name) {
	case "cpu", "cpu.logical_number", "system.cpu.logical_number":
		l.CPU = value
	case "state", "cpu.mode", "system.cpu.state", "system.memory.state", "system.filesystem.state":
		l.State = value
	case "mountpoint", "system.filesystem.mountpoint":
		l.Mount = value
	case "type", "system.filesystem.type":
		l.Type = value
	case "device", "system.device":
		l.Device = value
	case "mode", "system.filesystem.mode":
		l.Access = value
	}
}

// cpuModes say how a CPU's time counts; elsewhere is time that another state has too.
var cpuModes = map[string]int32{
	"user": measurements.ModeUser, "nice": measurements.ModeNice, "system": measurements.ModeSystem, "idle": measurements.ModeIdle,
	"iowait": measurements.ModeIOWait, "wait": measurements.ModeIOWait, "irq": measurements.ModeIRQ, "interrupt": measurements.ModeIRQ,
	"softirq": measurements.ModeSoftIRQ, "steal": measurements.ModeSteal, "guest": elsewhere, "guest_nice": elsewhere,
	"privileged": measurements.ModeSystem,
}

// windowsModes are those of windows_exporter that count otherwise: privileged time has
// that of interrupts and deferred calls in it.
var windowsModes = map[string]int32{"interrupt": elsewhere, "dpc": elsewhere}

const elsewhere = -1

// maxCPU is the highest number of a CPU.
const maxCPU = 1<<16 - 1

// coresOfNode is by how much the numbers of CPUs of two nodes of a Windows machine differ.
const coresOfNode = 1024

// numberOf reads the number of a CPU: 0, cpu0, and on Windows the numbers of its node and of
// the CPU there: 0,3. If an agent adds up all CPUs, there is none, and they count as one.
func numberOf(cpu []byte) (number int32, ok bool) {
	if node, core, onWindows := bytes.Cut(cpu, []byte(",")); onWindows {
		n, nodeOK := numberOf(node)
		c, coreOK := numberOf(core)
		number = coresOfNode*n + c
		return number, nodeOK && coreOK && len(node) > 0 && len(core) > 0 && n < coresOfNode && c < coresOfNode && number <= maxCPU
	}
	digits := bytes.TrimPrefix(cpu, []byte("cpu"))
	if len(digits) > 5 {
		return 0, false
	}
	for _, d := range digits {
		if d < '0' || d > '9' {
			return 0, false
		}
		number = 10*number + int32(d-'0')
	}
	return number, (len(cpu) == 0 || len(digits) > 0) && number <= maxCPU
}
