package agent

import (
	"errors"
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

// update is a transaction that writes. Where the disk is full the oldest measurements make
// room for it. To delete takes room, too; the pages that the transaction before has left
// were enough for that in all that was tried (TestAFullDisk), without any set aside.
func (s *store) update(do func(tx *bbolt.Tx) error) error {
	err := s.db.Update(do)
	for i := 0; i < sheds && isFull(err); i++ {
		if shedErr := s.shed(); shedErr != nil {
			return errors.Join(err, shedErr)
		}
		err = s.db.Update(do)
	}
	return err
}

// shed drops a sixteenth of the measurements, the oldest. What is left is what is kept at
// most until somebody finds more room (lift): the file would grow again else, and each time
// that it cannot, a sixteenth would go.
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

// lift has the buffer grow to its own bound again.
func (s *store) lift() {
	_ = s.db.Update(func(*bbolt.Tx) error { // one transaction at a time: s.most is theirs
		s.most = s.max
		return nil
	})
}
