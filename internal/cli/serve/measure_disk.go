package serve

import (
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/shirou/gopsutil/v4/disk"

	"muster/internal/cli/installation"
	"muster/internal/concurrency/supervise"
	"muster/internal/process/telemetry"
)

// disks are the file systems on which a process keeps what must not run out of room.
type disks struct {
	paths map[string]string // by the figure's label
	turn  chan struct{}     // holds one while somebody looks
}

// newDisks knows the data directory, in which a private PostgreSQL is, and the directory of
// the files; a bucket is somebody else's to watch.
func newDisks(in *installation.Installation) *disks {
	d := &disks{paths: map[string]string{"data": in.Config.DataDir}, turn: make(chan struct{}, 1)}
	if dir := in.Blobs.Dir(); dir != "" {
		d.paths["files"] = dir
	}
	return d
}

// errLookHangs says that a look has not come back, as of a network file system whose server
// is away: nobody else is sent after it.
var errLookHangs = errors.New("the look at the file systems before this one has not come back")

// readings are how much of each is free for an account that is not root, from 0 to 1.
func (d *disks) readings(ctx context.Context) ([]telemetry.Reading, error) {
	select {
	case d.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, errLookHangs
	}
	type outcome struct {
		readings []telemetry.Reading
		err      error
	}
	seen := make(chan outcome, 1)
	go func() {
		defer func() { <-d.turn }()
		readings, err := supervise.Value(d.look)
		seen <- outcome{readings, err}
	}()
	select {
	case o := <-seen:
		return o.readings, o.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// look asks for each path, and returns an error where none answers.
func (d *disks) look() (readings []telemetry.Reading, failed error) {
	for _, name := range slices.Sorted(maps.Keys(d.paths)) {
		usage, err := disk.Usage(d.paths[name])
		if err != nil {
			failed = errors.Join(failed, err)
			continue
		}
		readings = append(readings, telemetry.Reading{Labels: []string{name}, Value: 1 - usage.UsedPercent/100})
	}
	if len(readings) > 0 {
		return readings, nil // the others are shown
	}
	return nil, failed
}
