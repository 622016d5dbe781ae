package commands

import (
	"bytes"
	"crypto/sha256"
	"time"

	"muster/domain/fleet"
	"muster/domain/instant"
)

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

func instanceDigest(d fleet.InstanceDetails) []byte {
	active := ""
	if d.Active {
		active = "active"
	}
	return stateDigest(d.Name, string(d.Engine), d.Version, d.Host, active, d.CreatedAt.UTC().Format(time.RFC3339Nano))
}

func databaseDigest(name string, createdAt time.Time) []byte {
	return stateDigest(name, createdAt.UTC().Format(time.RFC3339Nano))
}

// present reports whether the thing with this digest is there.
func present(digest []byte) bool { return len(digest) > 0 && digest[0] == 1 }

// sameInstance reports whether an instance is as the item says.
func sameInstance(digest []byte, item FleetItem) bool {
	want := instanceDigest(item.details(fleet.InstanceDetails{}))
	said := []bool{true, true, item.Version != nil, item.Host != nil, item.Active != nil, !item.CreatedAt.IsZero()}
	return sameFields(digest, want, said)
}

// sameDatabase reports whether a database is as d says.
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
