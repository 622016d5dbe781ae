package commands

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/google/uuid"

	"muster/domain/fleet"
	"muster/domain/instant"
	"muster/domain/printable"
	"muster/domain/rule"
)

// Bounds of what a feed may say about its fleet.
const (
	maxItems     = 10_000 // of one call, instances or alerts
	maxIDRunes   = 200
	maxTextRunes = 255
	maxAhead     = 5 * time.Minute // a sender's clock may be this far ahead
)

// FleetItem is one instance of a batch with its databases.
type FleetItem struct {
	ExternalID string
	Name       string
	Engine     fleet.Engine
	Version    *string // nil leaves what is known
	Host       *string
	Active     *bool // nil: active, or what is known
	CreatedAt  time.Time
	Removed    bool
	Tags       *map[string]string // all that the feed sets; nil leaves what it set before
	Databases  []FleetDatabase
}

// FleetDatabase is one database of a FleetItem.
type FleetDatabase struct {
	ExternalID string
	Name       string
	CreatedAt  time.Time
	Removed    bool
}

// FleetIDs is the outcome for one FleetItem, in the same order. ID is uuid.Nil
// for something that was to be removed and never existed.
type FleetIDs struct {
	ExternalID string
	ID         uuid.UUID
	Databases  []FleetIDs
	Kept       []string // keys of its tags that are not the feed's to set: they stay as they are
}

// details are what the item says, over what is known.
func (i FleetItem) details(known fleet.InstanceDetails) fleet.InstanceDetails {
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

// fleetCheck collects what is wrong with a batch.
type fleetCheck struct {
	now    time.Time
	broken []rule.Broken
}

func checkFleet(items []FleetItem, now time.Time) error {
	if err := tooMany("#/instances", len(items)); err != nil {
		return err
	}
	c := fleetCheck{now: now}
	seen := make(map[string]bool, len(items))
	for i, item := range items {
		at := fmt.Sprintf("#/instances/%d", i)
		c.externalID(at, item.ExternalID, seen)
		if item.Removed {
			continue
		}
		c.text(at+"/name", item.Name, 1)
		c.optional(at+"/version", item.Version)
		c.optional(at+"/host", item.Host)
		c.engine(at+"/engine", item.Engine)
		c.time(at+"/createdAt", item.CreatedAt)
		if item.Tags != nil {
			c.tags(at+"/tags", *item.Tags)
		}
		if err := tooMany(at+"/databases", len(item.Databases)); err != nil {
			return err
		}
		databases := make(map[string]bool, len(item.Databases))
		for j, d := range item.Databases {
			at := fmt.Sprintf("%s/databases/%d", at, j)
			c.externalID(at, d.ExternalID, databases)
			if !d.Removed {
				c.text(at+"/name", d.Name, 1)
				c.time(at+"/createdAt", d.CreatedAt)
			}
		}
	}
	return c.err()
}

func tooMany(pointer string, items int) error {
	if items <= maxItems {
		return nil
	}
	e := fieldError(pointer, "too_many_items", fmt.Sprintf("has %d items; at most %d are allowed in one call", items, maxItems))
	e.Fields[0].Params = map[string]any{"max": maxItems}
	return e
}

func (c *fleetCheck) err() error { return fieldErrors(c.broken) }

func (c *fleetCheck) refuse(pointer, code, detail string) {
	if len(c.broken) < MaxBroken {
		c.broken = append(c.broken, rule.Broken{Pointer: pointer, Code: code, Detail: detail})
	}
}

func (c *fleetCheck) externalID(at, id string, seen map[string]bool) {
	pointer := at + "/externalId"
	switch {
	case id == "" || utf8.RuneCountInString(id) > maxIDRunes || strings.ContainsRune(id, 0):
		c.refuse(pointer, "out_of_range", fmt.Sprintf("must be 1 to %d characters", maxIDRunes))
	case !printable.Name(id):
		c.refuse(pointer, "invalid_name", printable.Rule)
	case seen[id]:
		c.refuse(pointer, "duplicate_external_id", "is in this call twice")
	}
	seen[id] = true
}

func (c *fleetCheck) text(pointer, text string, least int) {
	c.name(pointer, text, least, maxTextRunes)
}

func (c *fleetCheck) name(pointer, text string, least, most int) {
	switch n := utf8.RuneCountInString(text); {
	case n < least || n > most || strings.ContainsRune(text, 0):
		c.refuse(pointer, "out_of_range", fmt.Sprintf("must be %d to %d characters, none of them U+0000", least, most))
	case !printable.Name(text):
		c.refuse(pointer, "invalid_name", printable.Rule)
	}
}

func (c *fleetCheck) optional(pointer string, text *string) {
	if text != nil {
		c.text(pointer, *text, 0)
	}
}

func (c *fleetCheck) engine(pointer string, e fleet.Engine) {
	if !slices.Contains(fleet.Engines(), e) {
		c.refuse(pointer, "invalid_parameter", "is no engine known here")
	}
}

func (c *fleetCheck) time(pointer string, at time.Time) {
	if at.After(c.now.Add(maxAhead)) {
		c.refuse(pointer, "time_in_future", "lies more than 5 minutes in the future")
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
func sameInstance(digest []byte, item FleetItem, by fleet.TagSource) bool {
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

func sameDatabase(digest []byte, d FleetDatabase) bool {
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
