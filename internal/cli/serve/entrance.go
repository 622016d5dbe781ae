package serve

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"muster/internal/concurrency/supervise"
	"muster/internal/httpapi/operations"
)

// entrance is a port that is open, and answers from then on: until there is a handler it
// says that the process is starting. Without that, connections would wait for as long as
// what the process starts with hangs, and a proxy could send them nowhere else.
type entrance struct {
	address string
	server  *http.Server
	handler atomic.Pointer[http.Handler]
	ended   chan error // what Serve returned
}

// newEntrance serves on a listener. waitsFor names what the process waits for.
func newEntrance(listener net.Listener, log *slog.Logger, readTimeout, writeTimeout time.Duration, waitsFor func() string) *entrance {
	e := &entrance{address: listener.Addr().String(), ended: make(chan error, 1)}
	e.opens(operations.Starting(waitsFor))
	e.server = &http.Server{
		Handler:           e.guarded(log),
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
		ReadHeaderTimeout: readHeaderTimeout, ReadTimeout: readTimeout, WriteTimeout: writeTimeout,
		IdleTimeout: IdleTimeout, MaxHeaderBytes: maxHeaderBytes,
	}
	go func() { e.ended <- e.server.Serve(listener) }()
	return e
}

// guarded logs what a handler panics with, which breaks the answer off. Of the API's requests
// only what cannot be answered any more comes here.
func (e *entrance) guarded(log *slog.Logger) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		err := supervise.Call(func() error {
			(*e.handler.Load()).ServeHTTP(w, r)
			return nil
		})
		var panicked *supervise.PanicError
		if !errors.As(err, &panicked) {
			return
		}
		if !errors.Is(err, http.ErrAbortHandler) {
			log.ErrorContext(r.Context(), "a request panicked", "error", err, "stack", string(panicked.Stack))
		}
		panic(http.ErrAbortHandler)
	})
}

// opens hands requests to a handler from now on.
func (e *entrance) opens(handler http.Handler) { e.handler.Store(&handler) }

// serve waits until the server ends, and returns why unless it was shut down.
func (e *entrance) serve(what string) error {
	if err := <-e.ended; !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("serve %s: %w", what, err)
	}
	return nil
}

// stage is what a process that starts waits for, by the name of the check of /readyz.
type stage struct{ atomic.Pointer[string] }

func (s *stage) reach(name string) { s.Store(&name) }

func (s *stage) name() string { return *s.Load() }
