package watch

import (
	"cmp"
	"context"
	_ "embed" // the statements
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"
	"github.com/jmoiron/sqlx"

	"muster/domain/instant"
	"muster/internal/measurements/arrival"
	"muster/internal/postgres/statement"
)

// Bounds of what is recorded.
const (
	// Fresh is how old a figure may be and still be judged: a few samples a minute
	// apart may be lost, and a sender's clock may be a little slow. What is older
	// was held up somewhere, and says how things were.
	Fresh = 5 * time.Minute
	// counted is over how long is counted what is counted (Details.Counts).
	counted = 10 * time.Minute
	// longest is the longest name of a volume that an alert can carry.
	longest = 255
)

//go:embed sql/record.sql
var recordSigns string

// Sign is one figure that a rule judges.
type Sign struct {
	OrganizationID uuid.UUID `db:"organization_id"`
	Rule           Rule
	InstanceID     uuid.UUID `db:"instance_id"`
	Mount          string    // of a Volume; Advisory of a LockWait
	Value          float64   // percent, or minutes; of Down and Silent: how long it has lasted, negative: how long it has been over
	Details        Details   // what the alert says beside
	At             time.Time // when it was measured
	// Imported says that it is of a past which somebody loads, whatever At is. A
	// watch judges what is.
	Imported bool
}

// hosts is the space of the ids that stand for hosts in the place of an instance's.
var hosts = uuid.MustParse("0199f0d2-7a10-5c44-9b0e-2f6f1e6c1d79")

// VolumeOf is a sign of a volume of a host, for which there is a sign of VolumesTold too. name
// tells it from the others of the host, whichever of its mounts are told.
func VolumeOf(organization uuid.UUID, name string, percent float64, at time.Time, details Details) Sign {
	return Sign{
		OrganizationID: organization, Rule: HostVolume, InstanceID: uuid.NewSHA1(hosts, []byte(details.Host)), Mount: name,
		Value: percent, At: at, Details: details,
	}
}

// NotFull is the value of a VolumeFullIn of a volume that has no date.
const NotFull = 3650

// VolumeFullIn is a sign of when a volume of a host is full, in days, beside its VolumeOf.
func VolumeFullIn(organization uuid.UUID, name string, days float64, at time.Time, details Details) Sign {
	s := VolumeOf(organization, name, days, at, details)
	s.Rule = FullIn
	return s
}

// ServerFullIn is a sign of when something is full that a server tells, such as "tablespace USERS".
func ServerFullIn(organization, instance uuid.UUID, what string, days float64, at time.Time) Sign {
	return Sign{OrganizationID: organization, Rule: FullIn, InstanceID: instance, Mount: what, Value: days, At: at, Details: Details{Object: what}}
}

// VolumesTold is a sign that a host told its volumes, and which servers are on it. A volume
// that it does not tell any more is gone, and its alert is over.
func VolumesTold(organization uuid.UUID, name string, servers []uuid.UUID, at time.Time) Sign {
	return Sign{
		OrganizationID: organization, Rule: host, InstanceID: uuid.NewSHA1(hosts, []byte(name)), At: at,
		Details: Details{Host: name, Instances: servers},
	}
}

// Record keeps those signs that are newer than the ones it has, in the caller's
// transaction, and says how many may count; received is when they came. What is
// imported, older than Fresh, more than five minutes in the future or no number is
// left out without an error, and so are the volumes that nobody wants to hear of
// (/boot, /boot/efi, below /snap/): it is no reason to refuse the samples.
//
// A figure counts from when it was measured, at the latest from received. Who measures must
// say so too when nothing is wrong (no session waits: zero minutes), because a breach ends
// with a figure and not with the lack of one.
func Record(ctx context.Context, q sqlx.ExtContext, received time.Time, signs []Sign) (int, error) {
	newest := make(map[subject]Sign, len(signs))
	for _, s := range withBlocked(signs) {
		if !s.counts(received) {
			continue
		}
		if s.At.After(received) {
			s.At = received
		}
		known, ok := newest[s.subject()]
		if ok && s.Details.Counts != nil { // what the older one counted is not lost
			s.Details.Counts = append(slices.Clone(known.Details.Counts), s.Details.Counts...)
			s.At, s.Value, known.At = instant.Later(s.At, known.At), s.Value+known.Value, time.Time{}
		}
		if !ok || s.At.After(known.At) {
			newest[s.subject()] = s
		}
	}
	if len(newest) == 0 {
		return 0, nil
	}
	type row struct {
		subject
		Value   float64
		At      time.Time
		Details string
	}
	var rows []row
	for _, key := range slices.SortedFunc(maps.Keys(newest), subject.compare) {
		details, err := newest[key].Details.encoded()
		if err != nil {
			return 0, err
		}
		rows = append(rows, row{key, newest[key].Value, newest[key].At, details})
	}
	err := statement.Exec(ctx, q, fmt.Sprintf("record %d signs", len(rows)), recordSigns, append(statement.Columns(rows), counted.Seconds(), rulesBelow())...)
	if err != nil {
		return 0, err
	}
	return len(rows), nil
}

// rulesBelow are the rules whose figures are in breach below their threshold.
func rulesBelow() []string {
	var ids []string
	for _, d := range Catalogue() {
		if d.Below {
			ids = append(ids, d.ID)
		}
	}
	return ids
}

// withBlocked adds how many sessions wait to the signs of how long they do, and how long they do if they are many. A wait
// of nobody knows how many says nothing.
func withBlocked(signs []Sign) []Sign {
	all := slices.Clone(signs)
	for _, s := range signs {
		if s.Rule != LockWait || s.Details.Sessions == 0 && s.Value != 0 {
			continue
		}
		if s.Details.Sessions >= many {
			piled := s
			piled.Rule = pile
			all = append(all, piled)
		}
		s.Rule, s.Value = Blocking, float64(s.Details.Sessions)
		all = append(all, s)
	}
	return all
}

// began is when a server went down or silent, or came back, by a sign of Down or Silent.
func (s Sign) began() time.Time {
	return s.At.Add(-time.Duration(math.Abs(s.Value) * float64(time.Minute))).Round(time.Millisecond).UTC()
}

// advisory tells whether a sign is about waits for advisory locks.
func (s Sign) advisory() bool {
	return s.Mount == Advisory && (s.Rule == LockWait || s.Rule == Blocking || s.Rule == pile)
}

// counts tells whether the watch would judge a sign that came at received.
func (s Sign) counts(received time.Time) bool {
	switch {
	case s.Imported, s.At.Before(received.Add(-Fresh)), s.At.After(received.Add(arrival.Ahead)):
		return false
	case math.IsNaN(s.Value), math.IsInf(s.Value, 0):
		return false
	case s.Rule == Volume || s.Rule == HostVolume || s.Rule == FullIn:
		return s.Mount != "" && len(s.Mount) <= longest && utf8.ValidString(s.Mount) && !strings.Contains(s.Mount, "\x00") &&
			!Ignores(s.Mount)
	case s.advisory():
		return true
	}
	_, err := uuid.Parse(s.Mount)
	return s.Mount == "" || s.Rule == BackupRPO && err == nil
}

// Ignores tells whether nobody wants to hear of a volume, which is full by design
// (readings, 12).
func Ignores(mount string) bool {
	return mount == "/boot" || mount == "/boot/efi" || strings.HasPrefix(mount, "/snap/")
}

// subject is what a sign is about, and its key in the table.
type subject struct {
	Organization uuid.UUID `db:"organization_id"`
	Rule         Rule
	Instance     uuid.UUID `db:"instance_id"`
	Mount        string
}

func (s Sign) subject() subject {
	return subject{s.OrganizationID, s.Rule, s.InstanceID, s.Mount}
}

// key is what the alert is known by. An id has one length, so no two subjects
// share a key.
func (s subject) key() string { return "watch/" + string(s.Rule) + "/" + s.Instance.String() + s.Mount }

// compare is the one order in which everybody locks their rows.
func (s subject) compare(o subject) int {
	return cmp.Or(slices.Compare(s.Organization[:], o.Organization[:]), cmp.Compare(s.Rule, o.Rule),
		slices.Compare(s.Instance[:], o.Instance[:]), cmp.Compare(s.Mount, o.Mount))
}
