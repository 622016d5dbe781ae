package postgres

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"muster/internal/concurrency/pause"
	"muster/internal/postgres/cluster"
	"muster/internal/process/unixonly"
)

// Options says which private server is wanted and for whom.
type Options struct {
	DataDir   string // Muster's data directory
	Logger    *slog.Logger
	Exclusive bool   // for `muster serve`: refuse a second one on the same directory
	SystemDir string // for clusters that cannot lie in DataDir; default /var/lib/muster
}

const defaultSystemDir = "/var/lib/muster"

// Server is a private server that this process uses.
type Server struct {
	Started bool // by this process; else it ran already: another process's, or an orphan that is now ours

	home      *home
	logger    *slog.Logger
	secret    []byte
	socketDir string
	serve     *fileLock // nil unless exclusive
	users     *fileLock
}

// Open returns the private server of a data directory: it attaches to a running one or starts
// it, and creates it first if there is none. Close releases it.
//
// It returns *ClusterVersionError, *cluster.NotInstalledError or *cluster.StartError.
func Open(ctx context.Context, opts Options) (*Server, error) {
	opts.SystemDir = cmp.Or(opts.SystemDir, defaultSystemDir)
	h, err := findHome(ctx, opts)
	if err != nil {
		return nil, err
	}
	s := &Server{home: h, logger: opts.Logger}
	if opts.Exclusive {
		if err := s.claim(); err != nil {
			return nil, err
		}
	}
	start, err := s.lockStart(ctx)
	if err != nil {
		s.release()
		return nil, err
	}
	defer start.release()
	if err := s.join(ctx); err != nil {
		s.release() // before start.lock: who waits for that must find nothing of ours
		return nil, err
	}
	return s, nil
}

// join makes us a user of the server. The caller holds start.lock.
func (s *Server) join(ctx context.Context) (err error) {
	if s.users, err = openLock(s.home.dir, "users.lock"); err != nil {
		return err
	}
	if err := s.users.try(shared); err != nil {
		return err
	}
	if s.secret, err = s.home.readSecret(); err != nil {
		return err
	}
	if s.socketDir, s.Started, err = s.attachOrStart(ctx); err != nil {
		return err
	}
	if err := s.ensureRoles(ctx); err != nil {
		return errors.Join(err, s.stopIfLast(ctx))
	}
	return nil
}

// URL is the connection string of Muster's own database and role.
func (s *Server) URL() string { return s.url(musterRole, databaseName) }

// Close releases the server and stops it if no other process uses it. Its pools have to be
// closed before.
func (s *Server) Close(ctx context.Context) error {
	start, err := s.lockStart(ctx)
	if err != nil {
		s.release()
		return err
	}
	defer start.release()
	defer s.release()
	return s.stopIfLast(ctx)
}

func (s *Server) claim() error {
	lock, err := openLock(s.home.dir, "serve.lock")
	if err != nil {
		return err
	}
	err = lock.try(exclusive)
	if errors.Is(err, unixonly.ErrLocked) {
		err = inUse(s.home.dataDir, lock.signer())
	}
	if err == nil {
		err = lock.sign()
	}
	if err != nil {
		lock.release()
		return err
	}
	s.serve = lock
	return nil
}

// inUse says that a `muster serve` already runs on a data directory; pid 0: not known which.
func inUse(dataDir string, pid int) error {
	who := "another muster serve"
	if pid != 0 {
		who = fmt.Sprintf("another muster serve (process %d)", pid)
	}
	return fmt.Errorf("%s runs on the data directory %s: stop it, or give this one its own with --data-dir", who, dataDir)
}

func (s *Server) lockStart(ctx context.Context) (*fileLock, error) {
	lock, err := openLock(s.home.dir, "start.lock")
	if err != nil {
		return nil, err
	}
	if err := lock.wait(ctx); err != nil {
		lock.release()
		return nil, err
	}
	return lock, nil
}

// release drops the locks that live as long as the Server.
func (s *Server) release() {
	for _, lock := range []*fileLock{s.users, s.serve} {
		if lock != nil {
			lock.release()
		}
	}
	s.users, s.serve = nil, nil
}

// attachOrStart returns the directory of the server's socket and whether we started it. The
// caller holds start.lock, so no other process starts or stops it.
func (s *Server) attachOrStart(ctx context.Context) (sockets string, started bool, err error) {
	state, err := cluster.ReadState(s.home.cluster())
	switch {
	case err == nil && state.Alive(ctx):
		return s.attach(ctx, state)
	case err == nil:
		s.logger.WarnContext(ctx, "the private server was killed: recovering", slog.Int("process", state.PID))
		if err := cluster.Disown(s.home.cluster()); err != nil {
			return "", false, fmt.Errorf("take over the killed server's files: %w", err)
		}
		return s.start(ctx, recoveryPatience)
	default: // absent, or cut short by a full disk, which PostgreSQL explains better
		return s.start(ctx, 0)
	}
}

// attach waits for a server whose starter was killed before it was ready.
func (s *Server) attach(ctx context.Context, state cluster.PostmasterFile) (sockets string, started bool, err error) {
	for !state.Ready {
		if err := pause.For(ctx, lockPoll); err != nil {
			return "", false, fmt.Errorf("wait for the private server (process %d): %w", state.PID, err)
		}
		if state, err = cluster.ReadState(s.home.cluster()); err != nil || !state.Alive(ctx) {
			return s.start(ctx, recoveryPatience)
		}
	}
	s.logger.InfoContext(ctx, "attached to the private server", slog.Int("process", state.PID))
	return state.SocketDir, false, nil
}

// stopIfLast needs start.lock. It changes our share of users.lock into all of it,
// which works only for the last one.
func (s *Server) stopIfLast(ctx context.Context) error {
	if err := s.users.try(exclusive); err != nil {
		if errors.Is(err, unixonly.ErrLocked) {
			s.logger.InfoContext(ctx, "another process uses the private server: leaving it to that")
			return nil
		}
		return err
	}
	if err := stop(ctx, s.home.cluster()); err != nil {
		return err
	}
	s.logger.InfoContext(ctx, "stopped the private server")
	_ = os.Remove(s.socketDir) // empty, if it is ours alone
	return nil
}
