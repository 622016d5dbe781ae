package inventory

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/fleet"
	"muster/domain/instant"
)

// Item is one instance of a batch with its databases.
type Item struct {
	ExternalID string
	Name       string
	Engine     fleet.Engine
	Version    *string // nil leaves what is known
	Host       *string
	Active     *bool // nil: active, or what is known
	CreatedAt  time.Time
	Removed    bool
	Tags       *map[string]string // all that the feed sets; nil leaves what it set before
	Databases  []Database
}

// Database is one database of an Item.
type Database struct {
	ExternalID string
	Name       string
	CreatedAt  time.Time
	Removed    bool
}

// IDs is the outcome for one Item, in the same order. ID is uuid.Nil
// for something that was to be removed and never existed.
type IDs struct {
	ExternalID string
	ID         uuid.UUID
	Databases  []IDs
	Kept       []string // keys of its tags that are not the feed's to set: they stay as they are
}

// details are what the item says, over what is known.
func (i Item) details(known fleet.InstanceDetails) fleet.InstanceDetails {
	d := known
	d.Name, d.Engine = i.Name, i.Engine
	if i.Version != nil {
		d.Version = *i.Version
	}
	if i.Host != nil {
		d.Host = *i.Host
	}
	if i.Active != nil {
		d.Active = *i.Active
	}
	if !i.CreatedAt.IsZero() {
		d.CreatedAt = instant.Cut(i.CreatedAt)
	}
	return d
}

func checkItems(items []Item, now time.Time) error {
	if err := usecase.TooMany("#/instances", len(items)); err != nil {
		return err
	}
	c := usecase.Check{Now: now}
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		at := fmt.Sprintf("#/instances/%d", i)
		c.ExternalID(at, item.ExternalID, seen)
		if item.Removed {
			continue
		}
		c.Text(at+"/name", item.Name, 1)
		c.Optional(at+"/version", item.Version)
		c.Optional(at+"/host", item.Host)
		checkEngine(&c, at+"/engine", item.Engine)
		c.Time(at+"/createdAt", item.CreatedAt)
		if item.Tags != nil {
			checkTags(&c, at+"/tags", *item.Tags)
		}
		if err := usecase.TooMany(at+"/databases", len(item.Databases)); err != nil {
			return err
		}
		databases := make(map[string]bool, len(item.Databases))
		for j, d := range item.Databases {
			at := fmt.Sprintf("%s/databases/%d", at, j)
			c.ExternalID(at, d.ExternalID, databases)
			if !d.Removed {
				c.Text(at+"/name", d.Name, 1)
				c.Time(at+"/createdAt", d.CreatedAt)
			}
		}
	}
	return c.Err()
}

func checkEngine(c *usecase.Check, pointer string, e fleet.Engine) {
	if !slices.Contains(fleet.Engines(), e) {
		c.Refuse(pointer, "invalid_parameter", "is no engine known here")
	}
}

// A state digest, as it stands beside an external key, is one byte that says
// whether the thing is there and then eight bytes of SHA-256 for each field: so
// that an item that leaves a field out can be compared on the others, and a
// batch that changes nothing is seen to without loading a single stream.
const fieldDigest = 8

var removedDigest = [...]byte{0}

func stateDigest(fields ...string) []byte {
	digest := append(make([]byte, 0, 1+len(fields)*fieldDigest), 1)
	for _, f := range fields {
		sum := sha256.Sum256([]byte(f))
		digest = append(digest, sum[:fieldDigest]...)
	}
	return digest
}

// instanceDigest also covers the tags that a feed set. Digests from before tags lack them: no
// feed had set any.
func instanceDigest(d fleet.InstanceDetails, fed fleet.Tags) []byte {
	active := ""
	if d.Active {
		active = "active"
	}
	return stateDigest(d.Name, string(d.Engine), d.Version, d.Host, active, d.CreatedAt.UTC().Format(time.RFC3339Nano), tagsText(fed))
}

// tagsText are tags with their sources as one text, in which no part has a line break.
func tagsText(tags fleet.Tags) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		fmt.Fprintf(&b, "%s\n%s\n%s\n", key, tags[key].Value, tags[key].By)
	}
	return b.String()
}

func databaseDigest(name string, createdAt time.Time) []byte {
	return stateDigest(name, createdAt.UTC().Format(time.RFC3339Nano))
}

// present reports whether the thing with this digest is there.
func present(digest []byte) bool { return len(digest) > 0 && digest[0] == 1 }

// sameInstance reports whether an item of a feed says nothing new. Where people or other feeds set
// tags, too, it does not know, and the instance is loaded.
func sameInstance(digest []byte, item Item, by fleet.TagSource) bool {
	tags := fleet.Tags{}
	if item.Tags != nil {
		for key, value := range *item.Tags {
			tags[key] = fleet.Tag{Value: value, By: by}
		}
	}
	want := instanceDigest(item.details(fleet.InstanceDetails{}), tags)
	if missing := len(want) - len(digest); missing == fieldDigest {
		none := sha256.Sum256(nil)
		digest = append(slices.Clone(digest), none[:fieldDigest]...)
	}
	said := []bool{true, true, item.Version != nil, item.Host != nil, item.Active != nil, !item.CreatedAt.IsZero(), item.Tags != nil}
	return sameFields(digest, want, said)
}

func sameDatabase(digest []byte, d Database) bool {
	return sameFields(digest, databaseDigest(d.Name, instant.Cut(d.CreatedAt)), []bool{true, !d.CreatedAt.IsZero()})
}

func sameFields(have, want []byte, said []bool) bool {
	if len(have) != len(want) || have[0] != want[0] {
		return false
	}
	for i, matters := range said {
		from, to := 1+i*fieldDigest, 1+(i+1)*fieldDigest
		if matters && !bytes.Equal(have[from:to], want[from:to]) {
			return false
		}
	}
	return true
}
