package logtest

import (
	"strings"
	"sync"
)

// Log keeps what is written to it. The zero Log is empty and ready to use, by any number of
// goroutines.
type Log struct {
	mu   sync.Mutex
	text strings.Builder
}

// Write appends to the log. It returns no error.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

// String returns all that was written so far.
func (l *Log) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}
