package postgres

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/process/unixonly"
)

// fileLock is a lock on an open file (flock), which the kernel drops with the
// process that holds it. Children do not inherit it.
type fileLock struct {
	file *os.File
}

func openLock(home, name string) (*fileLock, error) {
	file, err := os.OpenFile(filepath.Join(home, name), os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open a lock of the private server: %w", err)
	}
	if err := giveToOwner(file.Name()); err != nil {
		return nil, errors.Join(fmt.Errorf("open a lock of the private server: %w", err), file.Close())
	}
	return &fileLock{file: file}, nil
}

// How a lock is held.
const (
	shared    = false
	exclusive = true
)

// try takes the lock, shared or exclusive, or changes between the two. unixonly.ErrLocked:
// another process holds it.
func (l *fileLock) try(exclusive bool) error {
	err := unixonly.Lock(l.file, exclusive)
	if err == nil || errors.Is(err, unixonly.ErrLocked) {
		return err
	}
	return fmt.Errorf("lock %s: %w", l.file.Name(), err)
}

// lockPoll is how often a held lock is tried again: flock cannot wait for a
// context.
const lockPoll = 20 * time.Millisecond

// wait takes the lock exclusively as soon as it is free.
func (l *fileLock) wait(ctx context.Context) error {
	for {
		if err := l.try(exclusive); !errors.Is(err, unixonly.ErrLocked) {
			return err
		}
		if err := pause.For(ctx, lockPoll); err != nil {
			return fmt.Errorf("wait for %s: %w", l.file.Name(), err)
		}
	}
}

// sign writes our process id into the lock's file, for messages only: the kernel knows who
// holds the lock.
func (l *fileLock) sign() error {
	if err := l.file.Truncate(0); err != nil {
		return err
	}
	_, err := l.file.WriteAt(fmt.Appendf(nil, "%d\n", os.Getpid()), 0)
	return err
}

// signer is the process id in the lock's file, or 0.
func (l *fileLock) signer() (pid int) {
	_, _ = fmt.Fscan(io.NewSectionReader(l.file, 0, 32), &pid)
	return pid
}

// release lets go of the lock. Closing a file that nothing was written to since
// sign cannot lose anything, so there is no error to tell.
func (l *fileLock) release() { _ = l.file.Close() }
