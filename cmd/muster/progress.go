package main

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"muster/internal/pause"
)

// progressEvery is how often long work says where it is: who waits less than
// that is told nothing but the outcome.
const progressEvery = 3 * time.Second

// progress tells a person at the terminal what is being done, until stop.
func progress(w io.Writer) (report func(string), stop func()) {
	var now atomic.Pointer[string]
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for started := time.Now(); pause.For(ctx, progressEvery) == nil; {
			if what := now.Load(); what != nil {
				fmt.Fprintf(w, "%s (%s so far)\n", *what, time.Since(started).Round(time.Second))
			}
		}
	}()
	return func(what string) { now.Store(&what) }, func() { cancel(); <-ended }
}
