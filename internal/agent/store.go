package agent

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/google/uuid"
	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"muster/internal/intake/measure"
)

// The buckets of the file.
var (
	measurementsBucket = []byte("measurements") // by number: what was measured and is not sent
	factsBucket        = []byte("facts")        // by number: what was found and is not sent
	refusedBucket      = []byte("refused")      // by number: facts that the server refused
	serversBucket      = []byte("servers")      // by external id: serverState
	basesBucket        = []byte("bases")        // by external id: the list that the next is compared with
	metaBucket         = []byte("meta")
)

// The values of metaBucket.
var (
	identityKey = []byte("identity")
	countsKey   = []byte("counts")
)

// store is the agent's directory: one file, which a process at a time has open. What is
// kept in it survives the process at any line of it.
type store struct {
	db   *bbolt.DB
	max  int64 // bytes of measurements
	most int64 // of them at the moment: less where the disk is full; a writing transaction's

	reserve string // a file that sets room aside
}

// counts are the figures of a store, stored with the data that they count.
type counts struct {
	Bytes   int64 // of measurements
	Records int64
	// Dropped are measurements that were never sent, by why.
	Dropped map[string]int64
}

// Why measurements are dropped.
const (
	droppedFull      = "buffer_full"
	droppedHeld      = "instance_held"
	droppedCollected = "assessed_by_collector"
	droppedUnknown   = "unknown_instance"
	droppedForbidden = "forbidden"
	droppedRefused   = "refused"
	droppedDamaged   = "damaged"
)

// InUseError says that another agent works in the directory.
type InUseError struct{ Directory string }

func (e *InUseError) Error() string {
	return fmt.Sprintf("another agent works in %s; each needs a directory of its own", e.Directory)
}

// openStore opens the file in a directory, or makes it. Errors: *InUseError.
func openStore(directory string, most int64) (*store, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("make the agent's directory: %w", err)
	}
	path := filepath.Join(directory, "agent.db")
	db, err := bbolt.Open(path, 0o600, &bbolt.Options{Timeout: time.Second, NoFreelistSync: true, FreelistType: bbolt.FreelistMapType})
	switch {
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, &InUseError{Directory: directory}
	case err != nil:
		return nil, fmt.Errorf("open the agent's buffer %s: %w", path, err)
	}
	s := &store{db: db, max: most, most: most, reserve: filepath.Join(directory, "reserve")}
	if err := s.prepare(); err != nil {
		return nil, errors.Join(fmt.Errorf("prepare the agent's buffer %s: %w", path, err), db.Close())
	}
	return s, nil
}

func (s *store) prepare() error {
	s.setAside()
	return s.update(func(tx *bbolt.Tx) error {
		for _, name := range [][]byte{measurementsBucket, factsBucket, refusedBucket, serversBucket, basesBucket, metaBucket} {
			if _, err := tx.CreateBucketIfNotExists(name); err != nil {
				return err
			}
		}
		return nil
	})
}

func (s *store) close() error { return s.db.Close() }

// identity is who the agent is to the server. A directory that was copied to another
// machine is another agent: two that say they are the same would both be counted.
type identity struct {
	Sender string
	Host   string
}

// sender is the agent's unique name for the server. On another machine than the last time it is
// a new one, and the basis of statements is deleted.
func (s *store) sender(host string) (string, error) {
	var who identity
	err := s.update(func(tx *bbolt.Tx) error {
		meta := tx.Bucket(metaBucket)
		if text := meta.Get(identityKey); text != nil {
			if err := json.Unmarshal(text, &who); err != nil {
				return err
			}
			if who.Host == host {
				return nil
			}
			if err := tx.DeleteBucket(basesBucket); err != nil {
				return err
			}
			if _, err := tx.CreateBucket(basesBucket); err != nil {
				return err
			}
		}
		who = identity{Sender: uuid.NewString(), Host: host}
		return putJSON(meta, identityKey, who)
	})
	return who.Sender, err
}

// serverState is what is known of a server beside its statements.
type serverState struct {
	CreatedAt  time.Time            // when the agent saw it first
	Databases  map[string]time.Time // by name, when the agent saw each first
	Gone       []string             // databases that the server is still to be told of as removed
	Announced  string               // the instance as it was told last, but for those
	AssessedAt time.Time
	Version    string
	Tagged     bool // it was told with tags once
}

func (s *store) server(id string) (state serverState, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error { return getJSON(tx.Bucket(serversBucket), []byte(id), &state) })
	return state, err
}

// basis is the list with which the next one of a server is compared; nil: there is none.
func (s *store) basis(id string) (list *measure.List, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		text := tx.Bucket(basesBucket).Get([]byte(id))
		if text == nil {
			return nil
		}
		plain, err := unpack(text)
		if err != nil {
			return err
		}
		list = new(measure.List)
		return gob.NewDecoder(bytes.NewReader(plain)).Decode(list)
	})
	return list, err
}

// change is what a transaction of the store keeps, all or nothing.
type change struct {
	records []record
	server  string // whose state and basis
	state   *serverState
	basis   *measure.List
}

// keep keeps a change. Measurements beyond the store's bound go, the oldest first.
func (s *store) keep(c change) error {
	var basis []byte
	if c.basis != nil {
		var plain bytes.Buffer
		if err := gob.NewEncoder(&plain).Encode(c.basis); err != nil {
			return fmt.Errorf("encode the statements of %s: %w", c.server, err)
		}
		basis = pack(plain.Bytes())
	}
	return s.update(func(tx *bbolt.Tx) error {
		if c.state != nil {
			if err := putJSON(tx.Bucket(serversBucket), []byte(c.server), c.state); err != nil {
				return err
			}
		}
		if basis != nil {
			if err := tx.Bucket(basesBucket).Put([]byte(c.server), basis); err != nil {
				return err
			}
		}
		return s.add(tx, c.records)
	})
}

func (s *store) add(tx *bbolt.Tx, records []record) error {
	if len(records) == 0 {
		return nil
	}
	n, err := countsIn(tx)
	if err != nil {
		return err
	}
	for _, r := range records {
		number, err := tx.Bucket(metaBucket).NextSequence()
		if err != nil {
			return err
		}
		value := r.encode()
		if r.Kind.isFact() {
			if err = supersede(tx, r); err == nil {
				err = tx.Bucket(factsBucket).Put(numbered(number), value)
			}
		} else {
			err = tx.Bucket(measurementsBucket).Put(numbered(number), value)
			n.Bytes, n.Records = n.Bytes+int64(len(value)), n.Records+1
		}
		if err != nil {
			return err
		}
	}
	if err := n.dropOldest(tx, s.most); err != nil {
		return err
	}
	return putJSON(tx.Bucket(metaBucket), countsKey, n)
}

// dropOldest drops measurements until so many bytes are left at most.
func (n *counts) dropOldest(tx *bbolt.Tx, most int64) error {
	cursor := tx.Bucket(measurementsBucket).Cursor()
	for key, value := cursor.First(); key != nil && n.Bytes > most; key, value = cursor.First() {
		n.Bytes, n.Records = n.Bytes-int64(len(value)), n.Records-1
		n.drop(droppedFull, 1)
		if err := cursor.Delete(); err != nil {
			return err
		}
	}
	return nil
}

func (n *counts) drop(why string, records int64) {
	if n.Dropped == nil {
		n.Dropped = map[string]int64{}
	}
	n.Dropped[why] += records
}

func countsIn(tx *bbolt.Tx) (n counts, err error) {
	return n, getJSON(tx.Bucket(metaBucket), countsKey, &n)
}

// numbered is a record's key: the order in which they were kept.
func numbered(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

func putJSON(b *bbolt.Bucket, key []byte, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return err
	}
	return b.Put(key, text)
}

// getJSON leaves the value as it is if there is none.
func getJSON(b *bbolt.Bucket, key []byte, value any) error {
	text := b.Get(key)
	if text == nil {
		return nil
	}
	return json.Unmarshal(text, value)
}
