package agent

import (
	"encoding/binary"
	"time"

	"go.etcd.io/bbolt"
)

// next returns the records to be sent next, in the order they were kept: a fact alone, or
// measurements that come before the next fact, as many as one call may have. Those that
// wait says are to wait are passed over.
func (s *store) next(most int, wait func(record) bool) (out []record, err error) {
	err = s.db.View(func(tx *bbolt.Tx) error {
		facts, measured := tx.Bucket(factsBucket).Cursor(), tx.Bucket(measurementsBucket).Cursor()
		fact, factValue := facts.First()
		key, value := measured.First()
		size := 0
		for key != nil || fact != nil {
			isFact := key == nil || fact != nil && string(fact) < string(key)
			at, text := key, value
			if isFact {
				at, text = fact, factValue
			}
			r, err := decode(binary.BigEndian.Uint64(at), text)
			if err != nil {
				return err
			}
			switch {
			case wait(r):
			case isFact:
				if len(out) == 0 {
					out = append(out, r)
				}
				return nil
			case len(out) > 0 && size+len(r.Body) > most:
				return nil
			default:
				out, size = append(out, r), size+len(r.Body)
			}
			if isFact {
				fact, factValue = facts.Next()
			} else {
				key, value = measured.Next()
			}
		}
		return nil
	})
	return out, err
}

// sent deletes records that the server has.
func (s *store) sent(records []record) error { return s.remove(records, "") }

// drop deletes measurements that the server will never take, and counts them.
func (s *store) drop(records []record, why string) error { return s.remove(records, why) }

func (s *store) remove(records []record, why string) error {
	if len(records) == 0 {
		return nil
	}
	return s.db.Update(func(tx *bbolt.Tx) error {
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
				if why != "" {
					n.drop(why, 1)
				}
			}
			if err := bucket.Delete(numbered(r.Number)); err != nil {
				return err
			}
		}
		return putJSON(tx.Bucket(metaBucket), countsKey, n)
	})
}

// refuse lays a fact aside that the server does not take as it is. It is tried again
// when retry says so.
func (s *store) refuse(r record) error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		if err := tx.Bucket(factsBucket).Delete(numbered(r.Number)); err != nil {
			return err
		}
		return tx.Bucket(refusedBucket).Put(numbered(r.Number), r.encode())
	})
}

// retry puts the facts back that were refused, in the order they had.
func (s *store) retry() error {
	return s.db.Update(func(tx *bbolt.Tx) error {
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
			r, err := decode(binary.BigEndian.Uint64(key), value)
			f.Oldest = r.At
			return err
		}
		return nil
	})
	return f, err
}
