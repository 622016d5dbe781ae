package agent

import (
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"
)

const (
	// mostBytes bounds a call; the server takes 4 MiB.
	mostBytes = 3 << 20
	// mostItems bounds the items of one; the server takes 10,000.
	mostItems = 8000
)

// next returns the records to be sent next, in the order they were kept: a fact alone, or
// measurements that come before the next fact, as many as one call may have. Those that
// wait says are to wait are passed over; it is asked of records without their bodies.
func (s *store) next(wait func(record) bool) (out []record, err error) {
	var damaged []record
	err = s.db.View(func(tx *bbolt.Tx) error {
		facts, measured := tx.Bucket(factsBucket).Cursor(), tx.Bucket(measurementsBucket).Cursor()
		fact, factValue := facts.First()
		key, value := measured.First()
		size, items := 0, 0
		for key != nil || fact != nil {
			isFact := key == nil || fact != nil && string(fact) < string(key)
			at, text := key, value
			if isFact {
				at, text = fact, factValue
				fact, factValue = facts.Next()
			} else {
				key, value = measured.Next()
			}
			r, packed, err := decodeHead(binary.BigEndian.Uint64(at), text)
			if err == nil && wait(r) {
				continue
			}
			if err == nil && isFact && len(out) > 0 {
				return nil
			}
			if err == nil {
				r.Body, err = unpack(packed)
			}
			if err != nil {
				damaged = append(damaged, damagedRecord(r.Number, isFact))
				continue
			}
			if isFact {
				out = append(out, r)
				return nil
			}
			n := itemsIn(r.Body)
			if len(out) > 0 && (size+len(r.Body) > mostBytes || items+n > mostItems) {
				return nil
			}
			out, size, items = append(out, r), size+len(r.Body), items+n
		}
		return nil
	})
	if err == nil && len(damaged) > 0 {
		err = s.drop(damaged, droppedDamaged)
	}
	return out, err
}

// damagedRecord replaces an unreadable record: the disk has lost it. It would block all records
// after it.
func damagedRecord(number uint64, isFact bool) record {
	if isFact {
		return record{Number: number, Kind: assessmentFact}
	}
	return record{Number: number, Kind: hosts}
}

// sent deletes records that the server has.
func (s *store) sent(records []record) error { return s.remove(records, "") }

// drop deletes records that the server will never take, and counts them.
func (s *store) drop(records []record, why string) error { return s.remove(records, why) }

func (s *store) remove(records []record, why string) error {
	if len(records) == 0 {
		return nil
	}
	return s.update(func(tx *bbolt.Tx) error {
		n, err := countsIn(tx)
		if err != nil {
			return err
		}
		for _, r := range records {
			bucket := tx.Bucket(measurementsBucket)
			if r.Kind.isFact() {
				bucket = tx.Bucket(factsBucket)
			}
			value := bucket.Get(numbered(r.Number))
			if value == nil {
				continue // there was no room for it meanwhile
			}
			if !r.Kind.isFact() {
				n.Bytes, n.Records = n.Bytes-int64(len(value)), n.Records-1
			}
			if why != "" {
				n.drop(why, 1)
			}
			if err := bucket.Delete(numbered(r.Number)); err != nil {
				return err
			}
		}
		return putJSON(tx.Bucket(metaBucket), countsKey, n)
	})
}

// refuse sets a fact aside that the server does not accept as it is. It is tried again when
// retry says so: an instance only if there is nothing newer about it.
func (s *store) refuse(r record) error {
	return s.update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(factsBucket).Delete(numbered(r.Number)); err != nil {
			return err
		}
		if r.Kind == fleetFact && len(instanceFacts(tx.Bucket(factsBucket), r.Server)) > 0 {
			return nil
		}
		return tx.Bucket(refusedBucket).Put(numbered(r.Number), r.encode())
	})
}

// supersede deletes refused announcements of an instance that is announced anew: each
// announcement is complete.
func supersede(tx *bbolt.Tx, r record) error {
	if r.Kind != fleetFact {
		return nil
	}
	refused := tx.Bucket(refusedBucket)
	for _, key := range instanceFacts(refused, r.Server) {
		if err := refused.Delete(key); err != nil {
			return err
		}
	}
	return nil
}

// instanceFacts are the keys of the announcements of an instance in a bucket.
func instanceFacts(b *bbolt.Bucket, server string) (keys [][]byte) {
	cursor := b.Cursor()
	for key, value := cursor.First(); key != nil; key, value = cursor.Next() {
		if r, _, err := decodeHead(0, value); err == nil && r.Kind == fleetFact && r.Server == server {
			keys = append(keys, append([]byte{}, key...))
		}
	}
	return keys
}

// announcing says whether an instance has to be announced.
func (s *store) announcing(server string) (pending bool, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		pending = len(instanceFacts(tx.Bucket(factsBucket), server)) > 0
		return nil
	})
	return pending, err
}

// retry puts the facts back that were refused, in the order they had.
func (s *store) retry() error {
	return s.update(func(tx *bbolt.Tx) error {
		cursor := tx.Bucket(refusedBucket).Cursor()
		for key, value := cursor.First(); key != nil; key, value = cursor.First() {
			if err := tx.Bucket(factsBucket).Put(key, value); err != nil {
				return err
			}
			if err := cursor.Delete(); err != nil {
				return err
			}
		}
		return nil
	})
}

// figures are what a store says of itself.
type figures struct {
	counts
	Facts, Refused int
	Oldest         time.Time // of the measurements; zero: none
}

func (s *store) figures() (f figures, err error) {
	err = s.db.View(func(tx *bbolt.Tx) (err error) {
		if f.counts, err = countsIn(tx); err != nil {
			return err
		}
		f.Facts, f.Refused = tx.Bucket(factsBucket).Stats().KeyN, tx.Bucket(refusedBucket).Stats().KeyN
		if key, value := tx.Bucket(measurementsBucket).Cursor().First(); key != nil {
			if r, _, err := decodeHead(binary.BigEndian.Uint64(key), value); err == nil {
				f.Oldest = r.At
			}
		}
		return nil
	})
	return f, err
}
