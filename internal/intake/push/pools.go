package push

import (
	"cmp"
	"slices"
	"strings"

	"muster/internal/measurements"
	"muster/internal/watch"
)

// pool is a volume, or several that share their space and are full together.
type pool struct {
	key     string // stays the same whichever of its mounts are sent
	name    string // of a pool of ZFS; empty: it needs none
	percent float64
	taken   float64 // in bytes, of limit; if no size is known, the percent of 100
	limit   float64
	mounts  []string // the shortest first
}

// zfs begins the Pool of a file system of ZFS, in front of the pool's name.
const zfs = "zfs:"

// pools groups the volumes of a host that share their space: those of one device, pool or
// container, and those that have exactly the same sizes and are not known to be on devices of
// their own (overlays, exports of one file server). A ZFS file system with less room than its
// pool, because of a quota, is by itself.
func pools(volumes []measurements.Volume) []pool {
	volumes = slices.DeleteFunc(slices.Clone(volumes), func(v measurements.Volume) bool {
		_, known := used(v)
		return !known || watch.Ignores(v.Mount)
	})
	slices.SortStableFunc(volumes, func(a, b measurements.Volume) int {
		return cmp.Or(cmp.Compare(len(a.Mount), len(b.Mount)), cmp.Compare(a.Mount, b.Mount))
	})
	room := map[string]float64{} // of a pool of ZFS
	for _, v := range volumes {
		if strings.HasPrefix(v.Pool, zfs) && v.UsedPercent == nil {
			room[v.Pool] = max(room[v.Pool], v.Available)
		}
	}
	g := grouping{byPool: map[string]int{}, bySizes: map[sizes]int{}}
	for _, v := range volumes {
		g.add(v, hasQuota(v, room[v.Pool]))
	}
	made := make([]pool, len(g.groups))
	for i, group := range g.groups {
		made[i] = poolOf(group, hasQuota(group[0], room[group[0].Pool]))
	}
	return made
}

// hasQuota tells whether a file system of ZFS has clearly less room than its pool.
func hasQuota(v measurements.Volume, room float64) bool {
	return strings.HasPrefix(v.Pool, zfs) && v.UsedPercent == nil && v.Available < room-v.Size/100
}

// sizes are those of a volume.
type sizes struct{ size, free, available float64 }

// grouping puts volumes into groups.
type grouping struct {
	groups  [][]measurements.Volume
	byPool  map[string]int
	bySizes map[sizes]int
}

func (g *grouping) add(v measurements.Volume, alone bool) {
	n := len(g.groups)
	if alone {
		g.groups = append(g.groups, []measurements.Volume{v})
		return
	}
	of := sizes{v.Size, v.Free, v.Available}
	i, known := g.byPool[v.Pool]
	if known = known && v.Pool != ""; !known && v.UsedPercent == nil {
		i, known = g.bySizes[of]
		known = known && (!isLocal(v) || !isLocal(g.groups[i][0]))
	}
	if !known {
		i = n
		g.groups = append(g.groups, nil)
	}
	g.groups[i] = append(g.groups[i], v)
	if _, there := g.byPool[v.Pool]; !there {
		g.byPool[v.Pool] = i
	}
	if _, there := g.bySizes[of]; !there && v.UsedPercent == nil {
		g.bySizes[of] = i
	}
}

// isLocal tells whether a volume is known to be on a device of this machine.
func isLocal(v measurements.Volume) bool {
	return strings.HasPrefix(v.Pool, "/") || strings.HasPrefix(v.Pool, zfs)
}

func poolOf(group []measurements.Volume, quota bool) pool {
	first := group[0]
	p := pool{key: cmp.Or(first.Pool, first.Mount)}
	taken, room, sized := 0.0, 0.0, true
	for _, v := range group {
		percent, _ := used(v)
		p.percent = max(p.percent, percent)
		p.mounts = append(p.mounts, v.Mount)
		taken, room = taken+v.Size-v.Free, max(room, v.Available)
		sized = sized && v.UsedPercent == nil
	}
	p.taken, p.limit = p.percent, 100
	if sized && first.Size-first.Free+first.Available > 0 {
		p.taken, p.limit = first.Size-first.Free, first.Size-first.Free+first.Available
	}
	name, isZFS := strings.CutPrefix(first.Pool, zfs)
	switch {
	case quota:
		p.key = first.Mount
	case isZFS && len(group) > 1:
		p.name = name
		if sized && taken+room > 0 { // each knows what it uses itself
			p.percent = max(p.percent, 100*taken/(taken+room))
			p.taken, p.limit = taken, taken+room
		}
	}
	return p
}
