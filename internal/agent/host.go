package agent

import (
	"context"
	"slices"
	"time"

	"muster/domain/instant"
	"muster/internal/concurrency/pause"
	"muster/internal/httpapi/api"
	"muster/internal/intake/measure"
	"muster/internal/intake/ownhost"
	"muster/internal/measurements"
)

// measureHost measures this machine until ctx ends.
func (a *Agent) measureHost(ctx context.Context) error {
	var last []measurements.CPUCounter
	troubles := measure.Troubles{Log: a.Log, Fails: "this machine cannot be measured, or not all of it", Works: "this machine is measured again"}
	return pause.Every(ctx, ownhost.Every, func() {
		now, err := ownhost.Read(ctx)
		troubles.Note(ctx, "figures", err)
		at := instant.Cut(a.Now())
		item := hostSample(a.host, a.here(), at, last, now)
		last = now.CPU
		if item.CpuPercent == nil && item.MemoryPercent == nil && item.Volumes == nil {
			return
		}
		troubles.Note(ctx, "keeping", a.keepHost(item, at))
	})
}

func (a *Agent) keepHost(item api.HostSample, at time.Time) error {
	body, err := marshal([]api.HostSample{item})
	if err != nil {
		return err
	}
	if err := a.store.keep(change{records: []record{{Kind: hosts, At: at, Body: body}}}); err != nil {
		return err
	}
	a.wake()
	return nil
}

// here are the external ids of the servers on this machine, at most as many as a call
// takes.
func (a *Agent) here() []string {
	ids := []string{}
	machine, _ := ownhost.ThisMachine() // where it cannot be told, what is local by its own word
	for _, w := range a.watched {
		if w.hostName(machine) == a.host && len(ids) < 100 {
			ids = append(ids, w.ExternalID)
		}
	}
	slices.Sort(ids)
	return ids
}

// hostSample is what the machine says of itself, with how busy its CPUs were since the
// last time.
func hostSample(host string, runs []string, at time.Time, last []measurements.CPUCounter, now measurements.HostSample) api.HostSample {
	item := api.HostSample{Host: host, Instances: runs, At: at.UTC()}
	if busy, known := busyPercent(last, now.CPU); known {
		n := number(busy)
		item.CpuPercent = &n
	}
	if m := now.Memory; m != nil && m.Total > 0 {
		n := number(min(max(100*(m.Total-m.Available)/m.Total, 0), 100))
		item.MemoryPercent = &n
	}
	var volumes []api.VolumeSample
	for _, v := range now.Volumes {
		if used := v.Size - v.Free; used+v.Available > 0 {
			volumes = append(volumes, api.VolumeSample{Mount: v.Mount, UsedPercent: number(min(100*used/(used+v.Available), 100))})
		}
	}
	if len(volumes) > 0 {
		item.Volumes = &volumes
	}
	return item
}

// busyPercent is how busy all CPUs were together between two looks; known is false where
// there was no earlier one, or a counter fell: the machine was started anew.
func busyPercent(last, now []measurements.CPUCounter) (percent float64, known bool) {
	before := make(map[int32]float64, len(last))
	for _, c := range last {
		before[c.Code] = c.Seconds
	}
	var idle, all float64
	for _, c := range now {
		was, there := before[c.Code]
		if !there || c.Seconds < was {
			return 0, false
		}
		all += c.Seconds - was
		if mode := c.Code % 16; mode == measurements.ModeIdle || mode == measurements.ModeIOWait {
			idle += c.Seconds - was
		}
	}
	if all <= 0 {
		return 0, false
	}
	return 100 * (all - idle) / all, true
}
