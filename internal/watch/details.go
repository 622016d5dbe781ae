package watch

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/domain/alert"
	"muster/domain/printable"
	"muster/internal/postgres/statement"
)

// Details are what an alert says beside the value of its sign. What is empty is not known.
// Nothing in it names a person: texts of alerts stay in the log.
type Details struct {
	// Of a volume of a host.
	Host      string      `json:"host,omitempty"`
	Instances []uuid.UUID `json:"instances,omitempty"` // the servers on the host
	Mounts    []string    `json:"mounts,omitempty"`    // where the volume is mounted, the shortest first
	Pool      string      `json:"pool,omitempty"`      // the name of a pool whose file systems share their space

	// Of a wait for a lock.
	Sessions int    `json:"sessions,omitempty"` // how many wait
	Kind     string `json:"kind,omitempty"`     // what the engine calls the kind of the lock
	Object   string `json:"object,omitempty"`   // what is locked: a table, the key of an advisory lock; what fills, if a server tells it
	Session  string `json:"session,omitempty"`  // the server's id of the session that waits longest
	Holder   string `json:"holder,omitempty"`   // the server's id of a session that it waits for
	Idle     bool   `json:"idle,omitempty"`     // the holder is idle in a transaction

	// Of connections, whose Sessions are how many there are.
	Limit int `json:"limit,omitempty"`

	// Of what is counted over a while: how many there were, and when. Not nil: its value is their sum.
	Counts []Count `json:"counts,omitzero"`

	None    bool `json:"none,omitempty"`    // there is no backup, since the age that is the value
	Unknown int  `json:"unknown,omitempty"` // databases of the server whose backups' age is not known

	// Of a wait for a lock, of the transaction ids, or of a backup.
	Database string `json:"database,omitempty"` // of the session that waits longest; with the oldest ids
	Multi    bool   `json:"multi,omitempty"`    // the ids are those of multixacts

	// Of replication.
	Follower string `json:"follower,omitempty"` // who lags or does not follow: "standby two"; empty: the server itself
	Why      string `json:"why,omitempty"`      // it does not
}

// Count is how many there were since the look before. Those of one look may come in several messages: Of tells them apart.
type Count struct {
	At time.Time `json:"at"`
	N  int64     `json:"n"`
	Of string    `json:"of"` // the database; empty: it is not known
}

// Scan implements sql.Scanner.
func (d *Details) Scan(src any) error { return statement.ScanJSON(src, d) }

// maxDetail is how many characters of a name are kept.
const maxDetail = 200

// encoded is the JSON of the details, with names that people can read.
func (d Details) encoded() (string, error) {
	for _, text := range []*string{&d.Host, &d.Pool, &d.Kind, &d.Object, &d.Session, &d.Holder, &d.Database, &d.Follower, &d.Why} {
		*text = shortened(printable.Clean(strings.ReplaceAll(*text, "\x00", "")))
	}
	d.Mounts = slices.Clone(d.Mounts)
	for i := range d.Mounts {
		d.Mounts[i] = shortened(printable.Clean(d.Mounts[i]))
	}
	text, err := json.Marshal(d)
	if err != nil {
		return "", fmt.Errorf("encode the details of a sign: %w", err)
	}
	return string(text), nil
}

func shortened(text string) string { return printable.Cut(text, maxDetail) }

// volume names a volume of a host, "volume /tank and 2 more of pool tank", or what a server tells, "tablespace USERS".
func (d Details) volume(mount string) string {
	if d.Object != "" {
		return d.Object
	}
	said := "volume " + mount
	if len(d.Mounts) > 0 {
		said = "volume " + d.Mounts[0]
	}
	if more := len(d.Mounts) - 1; more > 0 {
		said += fmt.Sprintf(" and %d more", more)
	}
	if d.Pool != "" {
		said += " of pool " + d.Pool
	}
	return said
}

// lock names what is waited for: "a lock on table public.orders in database shop".
func (d Details) lock(mount string) string {
	said := "a lock"
	switch {
	case mount == Advisory && d.Object != "":
		said = "advisory lock " + d.Object
	case mount == Advisory:
		said = "an advisory lock"
	case d.Object != "":
		said = "a lock on " + d.Object
	case d.Kind != "":
		said = "a lock (" + d.Kind + ")"
	}
	if d.Database != "" {
		said += " in database " + d.Database
	}
	return said
}

// ofSession names the session that a figure is of; empty: it is not known.
func (d Details) ofSession() string {
	if d.Session == "" {
		return ""
	}
	return " (session " + d.Session + ")"
}

// waits says who waits for whom, as far as that is known; empty: it is not.
func (d Details) waits() string {
	if d.Session == "" || d.Sessions == 0 {
		return ""
	}
	said := "Session " + d.Session + " has waited longest"
	if d.Kind != "" {
		said += ", for a lock of kind " + d.Kind
	}
	if d.Holder != "" {
		said += "; it waits for session " + d.Holder
		if d.Idle {
			said += ", which is idle in a transaction"
		}
	}
	return said + "."
}

// for how long, in minutes, as it is written.
func lasting(minutes float64) string {
	return alert.Length(time.Duration(minutes * float64(time.Minute)))
}

// tenths prints a figure with one decimal place, or none where that is a zero.
func tenths(v float64) string {
	return strings.TrimSuffix(strconv.FormatFloat(v, 'f', 1, 64), ".0")
}
