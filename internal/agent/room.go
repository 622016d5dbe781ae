package agent

import (
	"crypto/rand"
	"errors"
	"io"
	"os"
	"syscall"

	"go.etcd.io/bbolt"
)

// sheds is how often the oldest measurements make room for a transaction at most: the room
// may lie in pieces that are too small for it.
const sheds = 8

// isFull says whether it was for want of room that something was not written.
func isFull(err error) bool {
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) || errors.Is(err, syscall.EFBIG)
}

// reserveBytes is how much room is set aside in a file beside the buffer's: bbolt writes new
// pages even to delete, and now and then the file has none left.
const reserveBytes = 1 << 20

// update is a transaction that writes. Where the disk is full the oldest measurements make
// room for it.
func (s *store) update(do func(tx *bbolt.Tx) error) error {
	err := s.db.Update(do)
	for i := 0; i < sheds && isFull(err); i++ {
		shedErr := s.shed()
		if isFull(shedErr) {
			_ = os.Truncate(s.reserve, 0) // without one there may be room all the same
			shedErr = s.shed()
			s.setAside()
		}
		if shedErr != nil {
			return errors.Join(err, shedErr)
		}
		err = s.db.Update(do)
	}
	return err
}

// shed drops a sixteenth of the measurements, the oldest. The rest is the new limit until there
// is more room (lift): otherwise the file would grow again, and each time that it cannot, a
// sixteenth would be dropped.
func (s *store) shed() error {
	return s.db.Update(func(tx *bbolt.Tx) error {
		n, err := countsIn(tx)
		if err != nil {
			return err
		}
		s.most = n.Bytes - n.Bytes/16
		if err := n.dropOldest(tx, s.most); err != nil {
			return err
		}
		return putJSON(tx.Bucket(metaBucket), countsKey, n)
	})
}

// setAside fills the reserve as far as there is room. What is written cannot be packed: a
// file system that packs would set nothing aside.
func (s *store) setAside() {
	f, err := os.OpenFile(s.reserve, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return
	}
	defer func() { _ = f.Close() }()
	if now, err := f.Stat(); err == nil && now.Size() < reserveBytes {
		_, _ = io.CopyN(f, rand.Reader, reserveBytes-now.Size())
	}
}

// lift has the buffer grow to its own bound again.
func (s *store) lift() {
	s.setAside()
	_ = s.db.Update(func(*bbolt.Tx) error { // one transaction at a time: s.most is theirs
		s.most = s.max
		return nil
	})
}
