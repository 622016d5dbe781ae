package main

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// progressEvery is how often long work says where it is: who waits less than
// that is told nothing but the outcome.
const progressEvery = 3 * time.Second

// progress tells a person at the terminal what is being done, until stop.
func progress(w io.Writer) (report func(string), stop func()) {
	var now atomic.Pointer[string]
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(progressEvery)
		defer tick.Stop()
		for started := time.Now(); ; {
			select {
			case <-done:
				return
			case <-tick.C:
				if what := now.Load(); what != nil {
					fmt.Fprintf(w, "%s (%s so far)\n", *what, time.Since(started).Round(time.Second))
				}
			}
		}
	}()
	return func(what string) { now.Store(&what) }, func() { close(done); <-ended }
}
