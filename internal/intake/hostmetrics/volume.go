package hostmetrics

import (
	"bytes"

	"muster/internal/intake"
	"muster/internal/measurements"
)

// mountedOn is where a file system is: one may hide another at its mount point.
type mountedOn struct{ mount, device string }

// volumePart is one of the sizes that agents send about a file system.
type volumePart int

const (
	size volumePart = iota
	free
	available
	used       // these are the states of system.filesystem.usage
	usedOthers // its free: the space for users other than root
	readOnly   // no size: 1 or 0
	volumeParts
)

func (s *Series) readVolume(l *Labels) intake.Reason {
	if len(l.Mount) == 0 {
		return intake.Incomplete
	}
	if reason := keepable(l.Mount, maxMount); reason != "" {
		return reason
	}
	if reason := keepable(l.Device, maxMount); reason != "" {
		return reason
	}
	neverFills := measurements.NeverFills(string(l.Type), string(l.Device), string(l.Mount)) || string(l.Access) == "ro" || string(l.Drive) == "cdrom"
	if neverFills != (s.metric == VolumeInfo) { // which is there to say so of sizes that do not
		return intake.NotUsed
	}
	if bytes.HasPrefix(l.Mount, []byte("HarddiskVolume")) || bytes.HasPrefix(l.Mount, []byte(`\\?\`)) {
		return intake.NotUsed // a partition of Windows that is mounted nowhere, such as the one to recover from
	}
	switch s.metric {
	case VolumeSize:
		s.side = size
	case VolumeRoom:
		s.side = free
	case VolumeFree:
		s.side = free
	case VolumeAvailable:
		s.side = available
	case VolumeReadOnly, VolumeInfo:
		s.side = readOnly
	default:
		switch string(l.State) {
		case "used":
			s.side = used
		case "free":
			s.side = usedOthers
		case "":
			return intake.Incomplete
		default: // reserved, which df does not count
			return intake.NotUsed
		}
	}
	s.volume = mountedOn{s.message.name(l.Mount), s.message.name(l.Device)}
	s.pool = s.message.name(poolOf(l.Type, l.Device))
	return ""
}

// poolOf names what a file system shares its space with others in; empty: not known. A
// device that is no path (tmpfs, overlay) names a kind of file systems, and not one.
func poolOf(kind, device []byte) []byte {
	switch {
	case string(kind) == "zfs":
		name, _, _ := bytes.Cut(device, []byte("/"))
		return append([]byte("zfs:"), name...)
	case string(kind) == "apfs":
		// /dev/disk3s1s1 is in the container /dev/disk3.
		if disk, ok := bytes.CutPrefix(device, []byte("/dev/disk")); ok {
			number, _, _ := bytes.Cut(disk, []byte("s"))
			return append([]byte("/dev/disk"), number...)
		}
		return device
	case bytes.ContainsAny(device, "/:\\"):
		return device
	}
	return nil
}

type volume struct {
	mount  string
	pool   string
	points int
	told   [volumeParts]bool
	bytes  [volumeParts]float64
}

// addVolume is false where there are too many.
func (s *scrape) addVolume(at mountedOn, pool string, part volumePart, bytes float64) bool {
	i, known := s.places[at]
	if !known {
		if len(s.volumes) == maxVolumes {
			return false
		}
		if s.places == nil {
			s.places = map[mountedOn]int{}
		}
		i = len(s.volumes)
		s.places[at] = i
		s.volumes = append(s.volumes, volume{mount: at.mount, pool: pool})
	}
	v := &s.volumes[i]
	v.points++
	if !v.told[part] {
		v.told[part], v.bytes[part] = true, bytes
	}
	return true
}

// also notes another size that a point tells.
func (s *scrape) also(at mountedOn, part volumePart, bytes float64) {
	if v := &s.volumes[s.places[at]]; !v.told[part] {
		v.told[part], v.bytes[part] = true, bytes
	}
}

// volumesOf returns the file systems, one for each mount point: if there are several, the first
// complete one.
func (m *Message) volumesOf(s *scrape) []measurements.Volume {
	if len(s.volumes) == 0 {
		return nil
	}
	type kept struct{ place, told, points int }
	of := map[string]kept{}
	var out []measurements.Volume
	for _, v := range s.volumes {
		made, told, reason := v.sizes()
		if reason != "" {
			m.unused(s, reason, v.points)
			continue
		}
		before, twice := of[v.mount]
		switch {
		case !twice:
			of[v.mount] = kept{len(out), told, v.points}
			out = append(out, made)
		case told > before.told:
			m.unused(s, intake.NotUsed, before.points)
			out[before.place] = made
			of[v.mount] = kept{before.place, told, v.points}
		default:
			m.unused(s, intake.NotUsed, v.points)
		}
	}
	return out
}

// sizes returns the file system, how many of its three sizes are present, and why it is not
// usable.
func (v *volume) sizes() (made measurements.Volume, told int, reason intake.Reason) {
	made = measurements.Volume{Mount: v.mount, Pool: v.pool, Size: -1, Free: -1, Available: -1, ReadOnly: v.bytes[readOnly] > 0}
	if v.told[used] || v.told[usedOthers] {
		sum := v.bytes[used] + v.bytes[usedOthers]
		switch {
		case !v.told[used] || !v.told[usedOthers]:
			return made, 0, intake.Incomplete
		case sum == 0:
			return made, 0, intake.NotUsed
		}
		percent := 100 * v.bytes[used] / sum
		made.UsedPercent = &percent
		return made, 3, ""
	}
	for part, to := range []*float64{size: &made.Size, free: &made.Free, available: &made.Available} {
		if v.told[part] {
			*to = v.bytes[part]
			told++
		}
	}
	if made.Size == 0 || told == 0 && !made.ReadOnly {
		return made, 0, intake.NotUsed
	}
	return made, told, ""
}
