package postgresql

import (
	"context"
	_ "embed" // the query
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"time"

	"muster/internal/intake/measure"
	"muster/internal/measurements/backups"
	"muster/internal/servers"
)

//go:embed sql/archiver.sql
var archiverQuery string

// archiver is what a server tells about it. Times are seconds of its clock since 1970.
type archiver struct {
	Standby                  bool
	Now                      float64
	Mode                     string
	Empty, Library, Discards bool
	Archived                 int64
	File, FailedFile         string
	At, FailedAt, Reset      *float64
	Writes                   string // the file that a primary writes
	Segment                  int64  // bytes of a file
}

const (
	// stuck is for how long files may wait for an archiver that reports no failure.
	stuck = 10 * time.Minute
	// differs is from how many seconds on a server's clock is not ours. Below, its times are taken as they
	// are, so that a time does not differ from look to look.
	differs = 5
)

// Backups reads what the archiver does. A server does not know its base backups.
func (r *reader) Backups(ctx context.Context, l *measure.Line, at time.Time) (*backups.Look, error) {
	row, err := servers.Row(ctx, l, 1, archiverQuery)
	if err != nil {
		return nil, err
	}
	var a archiver
	if err := json.Unmarshal([]byte(row[0]), &a); err != nil || a.Mode == "" {
		return nil, measure.ErrNonsense
	}
	return a.look(at), nil
}

// look is what the archiver says at a time by our clock.
func (a *archiver) look(at time.Time) *backups.Look {
	l := &backups.Look{At: at, Source: backups.Archiver, Condition: backups.Works}
	skew := a.Now - float64(at.UnixMicro())/1e6
	ours := func(seconds float64) time.Time {
		if skew > -differs && skew < differs {
			return time.UnixMicro(int64(seconds * 1e6)).UTC()
		}
		return at.Add(-time.Duration((a.Now - seconds) * float64(time.Second))).UTC()
	}
	if a.At != nil && a.Mode != "off" && !a.Empty && !a.Discards {
		tool := "archive_command"
		if a.Library {
			tool = "archive_library"
		}
		l.Backups = []backups.Backup{{Kind: backups.WAL, FinishedAt: ours(*a.At), Tool: tool}}
	}
	waits, known := a.waiting()
	switch {
	case a.Mode == "off":
		l.Condition, l.Why = backups.Off, "archive_mode is off: no WAL is archived."
	case a.Standby && a.Mode != "always":
		l.Condition, l.Why = backups.Off, "A standby archives nothing unless archive_mode is always. Its primary does."
	case a.Empty:
		l.Condition, l.Why = backups.Idle, "Archiving is on and does nothing: archive_command and archive_library are empty."
	case a.Discards:
		l.Condition, l.Why = backups.Idle, "Archiving is on and does nothing: archive_command succeeds without keeping the file."
	case a.FailedAt != nil && (a.At == nil || *a.FailedAt > *a.At):
		l.Condition, l.Why = backups.Failing, fmt.Sprintf("Archiving of %s fails.", a.FailedFile)
		if known && waits > 0 {
			l.Why = fmt.Sprintf("Archiving of %s fails; %d files wait.", a.FailedFile, waits)
		}
	case a.At == nil:
		l.Condition, l.Why = backups.Idle, "Archiving is on and has archived nothing yet."
	case known && waits > 0 && at.Sub(ours(*a.At)) > stuck:
		l.Condition, l.Why = backups.Failing, fmt.Sprintf("%d files wait to be archived, and the last one was archived %d minutes ago.", waits, int(at.Sub(ours(*a.At)).Minutes()))
	}
	return l
}

// segmentName is the name of a WAL file: timeline, and the two halves of its number.
var segmentName = regexp.MustCompile(`^([0-9A-F]{8})([0-9A-F]{8})([0-9A-F]{8})`)

// waiting is how many files are full and not archived yet; known is false if their numbers do not tell.
func (a *archiver) waiting() (files int64, known bool) {
	number := func(name string) (n int64, timeline string, ok bool) {
		m := segmentName.FindStringSubmatch(name)
		if m == nil || a.Segment <= 0 {
			return 0, "", false
		}
		high, _ := strconv.ParseInt(m[2], 16, 64)
		low, _ := strconv.ParseInt(m[3], 16, 64)
		return high*((1<<32)/a.Segment) + low, m[1], true
	}
	last, on, ok1 := number(a.File)
	now, timeline, ok2 := number(a.Writes)
	if !ok1 || !ok2 || on != timeline {
		return 0, false
	}
	return max(now-last-1, 0), true
}
