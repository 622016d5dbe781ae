package push

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/internal/measurements"
	"muster/internal/measurements/room"
	"muster/internal/watch"
	"muster/internal/watch/status"
)

const defaultMaxVolumes = 100_000

// collect gathers what follows from the fresh samples of a batch: signs and observations.
// What is older says nothing about now: of an imported past nothing is so much as made. known
// is what runs on hosts that the batch says nothing of.
func (i *Intake) collect(ctx context.Context, b measurements.Batch, known map[string][]uuid.UUID, received time.Time) (*collection, error) {
	c := &collection{
		organization: b.Organization, most: cmp.Or(i.MaxVolumes, defaultMaxVolumes), oldest: received.Add(-watch.Fresh), heard: map[heard]time.Time{}, known: map[volume]int{},
		told: map[string]watch.Sign{}, used: map[string][]filling{},
	}
	source := sourceOf(b.Sender)
	for _, s := range b.Sessions {
		c.hear(heard{s.Instance, source, status.Sessions}, s.At)
	}
	for _, s := range b.Statements {
		c.hear(heard{s.Instance, source, status.Statements}, s.At)
	}
	for _, r := range b.Reached {
		c.reach(r, source)
	}
	hosts := slices.DeleteFunc(slices.Clone(b.Hosts), func(h measurements.HostSample) bool { return h.At.Before(c.oldest) })
	on, err := i.instancesOn(ctx, b.Organization, hosts, known)
	if err != nil {
		return nil, err
	}
	if err := i.complete(ctx, b.Organization, hosts); err != nil {
		return nil, err
	}
	if err := i.markReadOnly(ctx, b.Organization, hosts, c.oldest); err != nil {
		return nil, err
	}
	for _, h := range hosts {
		instances := h.Instances
		if len(instances) == 0 {
			instances = on[h.Host]
		}
		for _, instance := range instances {
			c.hear(heard{instance, source, status.Host}, h.At)
		}
		if len(instances) > 0 && h.Volumes != nil {
			c.fill(h, instances)
		}
	}
	return c, nil
}

// sourceOf is the source of an observation, from the sender of a batch.
func sourceOf(sender *string) string {
	switch {
	case sender == nil:
		return status.Muster
	case *sender == "":
		return status.Feed
	}
	return status.Agent + *sender
}

// KnownOn are the instances known to run on hosts, by either form of the hosts' names, under
// the requested hosts. Some may have been removed since. Samples from before hosts had keys
// have their senders' spelling, so both are looked up.
func (i *Intake) KnownOn(ctx context.Context, organization uuid.UUID, hosts []string) (map[string][]uuid.UUID, error) {
	asked := slices.Clone(hosts)
	for _, host := range hosts {
		asked = append(asked, fleet.HostKey(host))
	}
	slices.Sort(asked)
	asked = slices.Compact(asked)
	byKey := map[string][]uuid.UUID{}
	all := i.InstancesOn
	if i.InstancesNear != nil {
		all = append(slices.Clone(all), i.InstancesNear)
	}
	for _, ask := range all {
		found, err := ask(ctx, organization, asked)
		if err != nil {
			return nil, fmt.Errorf("find what runs on hosts: %w", err)
		}
		for host, instances := range found {
			key := fleet.HostKey(host)
			for _, instance := range instances {
				if !slices.Contains(byKey[key], instance) {
					byKey[key] = append(byKey[key], instance)
				}
			}
		}
	}
	on := make(map[string][]uuid.UUID, len(byKey))
	for _, host := range hosts {
		if found := byKey[fleet.HostKey(host)]; len(found) > 0 {
			on[host] = found
		}
	}
	return on, nil
}

// nameNear notes in samples of hosts that nothing else knows which instances are registered
// with the other form of the host's name, short or full. The tiles find them by the sample.
// It returns what it found out of hosts that no sample of the batch says anything of.
func (i *Intake) nameNear(ctx context.Context, b measurements.Batch, received time.Time) (map[string][]uuid.UUID, error) {
	if i.InstancesNear == nil {
		return nil, nil
	}
	unnamed := slices.DeleteFunc(slices.Clone(b.Hosts), func(h measurements.HostSample) bool {
		return len(h.Instances) > 0 || h.At.Before(received.Add(-watch.Fresh))
	})
	known, err := i.instancesOn(ctx, b.Organization, unnamed, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, h := range unnamed {
		if len(known[h.Host]) == 0 {
			names = append(names, h.Host)
		}
	}
	for _, h := range b.Hosts {
		if len(h.Instances) > 0 {
			delete(known, h.Host)
		}
	}
	if len(names) == 0 {
		return known, nil
	}
	slices.Sort(names)
	near, err := i.InstancesNear(ctx, b.Organization, slices.Compact(names))
	if err != nil {
		return nil, fmt.Errorf("find what runs on hosts by their short names: %w", err)
	}
	for n, h := range b.Hosts {
		if len(h.Instances) == 0 {
			b.Hosts[n].Instances = near[h.Host]
		}
	}
	return known, nil
}

// instancesOn finds out what runs on the hosts that do not say it themselves, beyond what
// is known.
func (i *Intake) instancesOn(
	ctx context.Context, organization uuid.UUID, hosts []measurements.HostSample, known map[string][]uuid.UUID,
) (map[string][]uuid.UUID, error) {
	on := maps.Clone(known)
	if on == nil {
		on = map[string][]uuid.UUID{}
	}
	var names []string
	for _, h := range hosts {
		if len(h.Instances) == 0 && len(on[h.Host]) == 0 {
			names = append(names, h.Host)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, ask := range i.InstancesOn {
		if len(names) == 0 {
			break
		}
		found, err := ask(ctx, organization, names)
		if err != nil {
			return nil, fmt.Errorf("find what runs on hosts: %w", err)
		}
		maps.Copy(on, found)
		names = slices.DeleteFunc(names, func(name string) bool { return len(on[name]) > 0 })
	}
	return on, nil
}

// complete puts in what is stored of the volumes where a sample has only some sizes of
// one. Prometheus sends the series of a scrape by several shards, so that the sizes of a
// volume may come in different messages at every scrape. Whichever of these is kept last
// finds all of them.
func (i *Intake) complete(ctx context.Context, organization uuid.UUID, samples []measurements.HostSample) error {
	var apart []int
	var hosts []string
	var times []time.Time
	for n, h := range samples {
		if slices.ContainsFunc(h.Volumes, inPart) {
			apart, hosts, times = append(apart, n), append(hosts, h.Host), append(times, h.At)
		}
	}
	if len(apart) == 0 {
		return nil
	}
	stored, err := i.Store.Volumes(ctx, organization, hosts, times)
	if err != nil {
		return err
	}
	for place, n := range apart {
		samples[n].Volumes = inWhole(samples[n].Volumes, stored[place])
	}
	return nil
}

// inWhole are the volumes of a message as all messages together tell them. What the store
// has besides was said by its own message, which knew its pool.
func inWhole(told, stored []measurements.Volume) []measurements.Volume {
	whole := []measurements.Volume{}
	for _, v := range told {
		if i := slices.IndexFunc(stored, func(s measurements.Volume) bool { return s.Mount == v.Mount }); i >= 0 {
			pool := v.Pool
			v = stored[i]
			v.Pool = pool
			whole = append(whole, v)
		}
	}
	return whole
}

// suspect is how full a volume has to be, in percent, to be worth a look whether it can be
// written to: the least threshold of the watch.
const suspect = 50

// markReadOnly marks the volumes that cannot fill by what other messages said. The series
// that says it comes by a shard of its own, before or behind the sizes of its scrape.
func (i *Intake) markReadOnly(ctx context.Context, organization uuid.UUID, samples []measurements.HostSample, since time.Time) error {
	isSuspect := func(v measurements.Volume) bool {
		percent, known := used(v)
		return known && percent >= suspect && v.UsedPercent == nil
	}
	var at []int
	var hosts []string
	for n, h := range samples {
		if slices.ContainsFunc(h.Volumes, isSuspect) {
			at, hosts = append(at, n), append(hosts, h.Host)
		}
	}
	if len(at) == 0 {
		return nil
	}
	found, err := i.Store.ReadOnly(ctx, organization, hosts, since)
	if err != nil {
		return err
	}
	for place, n := range at {
		if len(found[place]) == 0 {
			continue
		}
		samples[n].Volumes = slices.Clone(samples[n].Volumes)
		for k, v := range samples[n].Volumes {
			samples[n].Volumes[k].ReadOnly = v.ReadOnly || slices.Contains(found[place], v.Mount)
		}
	}
	return nil
}

// inPart is whether other messages may tell the rest of a volume.
func inPart(v measurements.Volume) bool {
	return v.UsedPercent == nil && !v.ReadOnly && (v.Size < 0 || v.Free < 0 || v.Available < 0)
}

// collection gathers signs and observations, the newest of each subject.
type collection struct {
	organization uuid.UUID
	most         int       // volumes
	oldest       time.Time // older figures are not fresh
	heard        map[heard]time.Time
	reached      []status.Observation
	known        map[volume]int // where in volumes
	volumes      []watch.Sign
	told         map[string]watch.Sign // that hosts told their volumes, by name
	used         map[string][]filling  // of the newest of these, by name
}

// heard is a part of an instance that a source measured.
type heard struct {
	instance uuid.UUID
	source   string
	part     status.Part
}

// volume is one volume of a host.
type volume struct{ host, name string }

func (c *collection) hear(what heard, at time.Time) {
	if at.Before(c.oldest) {
		return
	}
	if last, ok := c.heard[what]; !ok || at.After(last) {
		c.heard[what] = at
	}
}

// reach takes in an attempt to connect: Muster's own, or an exporter's.
func (c *collection) reach(r measurements.Reached, source string) {
	if r.By != "" {
		source = status.Exporter + r.By
	}
	part := status.Part(r.Part)
	if part == "" {
		part = status.Connection
	}
	part = part.Of(r.Database)
	c.reached = append(c.reached, status.Observation{
		Organization: c.organization, Instance: r.Instance, Source: source, Part: part, OK: r.Up, At: r.At, Since: r.Since, Fell: r.Fell,
		Code: r.Code, Sentence: r.Sentence,
	})
}

// fill takes in the volumes of a host, those that share their space as one.
func (c *collection) fill(h measurements.HostSample, instances []uuid.UUID) {
	if last, ok := c.told[h.Host]; !ok || h.At.After(last.At) {
		c.told[h.Host], c.used[h.Host] = watch.VolumesTold(c.organization, h.Host, instances, h.At), nil
	}
	for _, p := range pools(h.Volumes) {
		sign := watch.VolumeOf(c.organization, p.key, p.percent, h.At, watch.Details{
			Host: h.Host, Mounts: p.mounts, Pool: p.name,
		})
		if c.told[h.Host].At.Equal(h.At) {
			c.used[h.Host] = append(c.used[h.Host], filling{sign.Mount, room.Size{Kind: room.Volume, Name: p.mounts[0], Used: p.taken, Limit: p.limit}, sign.Details})
		}
		key := volume{h.Host, p.key}
		if n, ok := c.known[key]; ok {
			if h.At.After(c.volumes[n].At) {
				c.volumes[n] = sign
			}
		} else if len(c.volumes) < c.most {
			c.known[key] = len(c.volumes)
			c.volumes = append(c.volumes, sign)
		}
	}
}

// used is how full a volume is, in percent, as df has it; ok is false where that is not
// known, or says nothing.
func used(v measurements.Volume) (percent float64, ok bool) {
	switch {
	case v.ReadOnly:
		return 0, false // it cannot fill
	case v.UsedPercent != nil:
		return *v.UsedPercent, true
	}
	if inPart(v) {
		return 0, false
	}
	taken := v.Size - v.Free
	if taken+v.Available <= 0 {
		return 0, false
	}
	return min(100, max(0, 100*taken/(taken+v.Available))), true
}

// signs are what the watch judges of the batch.
func (c *collection) signs() []watch.Sign { return slices.AppendSeq(c.volumes, maps.Values(c.told)) }

// observations are what the batch says of how instances are.
func (c *collection) observations() []status.Observation {
	all := c.reached
	for what, at := range c.heard {
		all = append(all, status.Observation{
			Organization: c.organization, Instance: what.instance, Source: what.source, Part: what.part, OK: true, At: at,
		})
	}
	return all
}
