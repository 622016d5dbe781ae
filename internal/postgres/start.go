package postgres

import (
	"context"
	_ "embed" // the server's configuration
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"muster/internal/concurrency/pause"
	"muster/internal/postgres/cluster"
	"muster/internal/process/unixonly"
)

var (
	//go:embed private.conf
	privateConf string
	//go:embed private_statistics.conf
	privateStatistics string
	//go:embed private_hba.conf
	privateHBA string
)

const (
	// recoveryPatience is how long the killed server's children may take to notice
	// and go; PostgreSQL does not start beside them.
	recoveryPatience = 10 * time.Second
	recoveryRetry    = 100 * time.Millisecond
	// stopPatience is for a stop that must not be given up: the caller's time is up, but the
	// next process might find a server half stopped.
	stopPatience = 10 * time.Second
)

// start starts the server, and creates its cluster first if there is none. Failures within
// patience are tried again.
func (s *Server) start(ctx context.Context, patience time.Duration) (sockets string, started bool, err error) {
	if !exists(s.home.cluster()) {
		if err := s.initialize(ctx); err != nil {
			return "", false, err
		}
	}
	if err := s.home.remember(); err != nil {
		return "", false, fmt.Errorf("remember where the database is: %w", err)
	}
	if sockets, err = s.home.sockets(); err != nil {
		return "", false, err
	}
	if err := s.home.configure(sockets); err != nil {
		return "", false, fmt.Errorf("configure the private server: %w", err)
	}
	process, err := s.launch(ctx, patience)
	if err != nil {
		return "", false, err
	}
	s.logger.InfoContext(ctx, "started the private server", slog.Int("process", process.PID),
		slog.Int("version", s.home.inst.Major), slog.String("directory", s.home.dir))
	return sockets, true, nil
}

func (s *Server) launch(ctx context.Context, patience time.Duration) (*cluster.Process, error) {
	log := filepath.Join(s.home.dir, "start.log")
	_ = os.Remove(log) // of the last start; the server's own log is in data/log
	patient, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		process, err := cluster.Start(ctx, s.home.inst, s.home.account, s.home.cluster(), log)
		var failed *cluster.StartError
		if !errors.As(err, &failed) {
			return process, err
		}
		if pause.For(patient, recoveryRetry) != nil {
			return nil, err
		}
	}
}

// initialize makes the cluster aside and moves it into place when it is whole.
func (s *Server) initialize(ctx context.Context) error {
	h := s.home
	// initdb outlives a start that was killed and goes on writing: each start has
	// a place of its own. What is taken away from under it ends it, so that none
	// is left to write by the time that we are done.
	clearAway := func() {
		unfinished, _ := filepath.Glob(filepath.Join(h.dir, "making*")) // the pattern is well-formed
		for _, dir := range unfinished {
			_ = os.RemoveAll(dir)
		}
	}
	clearAway()
	defer clearAway()
	parent, err := os.MkdirTemp(h.dir, "making-") // the account's; home is ours
	if err != nil {
		return fmt.Errorf("make room for the cluster: %w", err)
	}
	passFile := filepath.Join(parent, "password")
	if err := os.WriteFile(passFile, []byte(password(s.secret, ownerRole)+"\n"), 0o600); err != nil {
		return fmt.Errorf("hand over the password: %w", err)
	}
	for _, path := range []string{passFile, parent} {
		if err := h.account.Own(path); err != nil {
			return fmt.Errorf("make room for the cluster: %w", err)
		}
	}
	made := filepath.Join(parent, "data")
	err = cluster.Init(ctx, h.inst, h.account, made,
		cluster.InitOptions{Superuser: ownerRole, PasswordFile: passFile, Auth: "scram-sha-256"})
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(made, "pg_hba.conf"), []byte(privateHBA), 0o600); err != nil {
		return fmt.Errorf("write pg_hba.conf: %w", err)
	}
	if err := include(filepath.Join(made, "postgresql.conf")); err != nil {
		return fmt.Errorf("write postgresql.conf: %w", err)
	}
	if err := os.Rename(made, h.cluster()); err != nil {
		return fmt.Errorf("move the cluster into place: %w", err)
	}
	return nil
}

func include(conf string) error {
	file, err := os.OpenFile(conf, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	_, err = file.WriteString("\ninclude_if_exists = 'muster.conf'\n")
	return errors.Join(err, file.Sync(), file.Close())
}

// configure writes the settings of this binary, which may be newer than the
// cluster.
func (h *home) configure(sockets string) error {
	path := filepath.Join(h.cluster(), "muster.conf")
	content := privateConf
	if h.inst.HasLibrary(statisticsExtension) {
		content += privateStatistics
	}
	content += fmt.Sprintf("unix_socket_directories = '%s'\n", sockets)
	return writeWhole(path, content)
}

// stop stops the server of a cluster, whoever started it, and returns when it has gone. If ctx
// ends first, the server is stopped without a checkpoint, which loses nothing either: the next
// start recovers.
func stop(ctx context.Context, dir string) error {
	state, err := cluster.ReadState(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("look for the private server: %w", err)
	}
	if err := signalAndWait(ctx, state, cluster.Fast); err == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopPatience)
	defer cancel()
	return signalAndWait(ctx, state, cluster.Immediate)
}

func signalAndWait(ctx context.Context, state cluster.PostmasterFile, mode cluster.Mode) error {
	if !state.Alive(ctx) {
		return nil
	}
	if err := unixonly.Kill(state.PID, syscall.Signal(mode)); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("stop the private server (process %d): %w", state.PID, err)
	}
	for state.Alive(ctx) {
		if err := pause.For(ctx, lockPoll); err != nil {
			return fmt.Errorf("wait for the private server (process %d) to stop: %w", state.PID, err)
		}
	}
	return nil
}

// supervisionEvery bounds how long the server is gone before Supervise sees it.
const supervisionEvery = time.Second

// Supervise starts the server again whenever it has died, until ctx ends. Pools
// connect again by themselves. For `muster serve`; other subcommands are short.
func (s *Server) Supervise(ctx context.Context) error {
	var told struct { // each reason once, and again every minute
		reason string
		at     time.Time
	}
	for pause.For(ctx, supervisionEvery) == nil {
		state, err := cluster.ReadState(s.home.cluster())
		if err == nil && state.Alive(ctx) {
			continue
		}
		err = s.startAgain(ctx)
		if err == nil || ctx.Err() != nil {
			continue
		}
		if now := time.Now(); err.Error() != told.reason || now.Sub(told.at) >= time.Minute {
			told.reason, told.at = err.Error(), now
			s.logger.ErrorContext(ctx, "cannot start the private server again", slog.Any("error", err))
		}
	}
	return nil
}

func (s *Server) startAgain(ctx context.Context) error {
	start, err := s.lockStart(ctx)
	if err != nil {
		return err
	}
	defer start.release()
	_, _, err = s.attachOrStart(ctx)
	return err
}
