package export

import (
	"bytes"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

// TestExportErrorsAreLoggedRarely: a collector that is away for a night is one line a minute.
func TestExportErrorsAreLoggedRarely(t *testing.T) {
	t.Parallel()
	var said bytes.Buffer
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	c := &complaints{log: slog.New(slog.NewTextHandler(&said, nil)), now: func() time.Time { return now }}
	for range 180 {
		c.Handle(errors.New("connection refused"))
		now = now.Add(time.Second)
	}
	if n := strings.Count(said.String(), "\n"); n != 3 {
		t.Errorf("three minutes are %d lines", n)
	}
	if !strings.Contains(said.String(), "failuresNotLogged=59") {
		t.Errorf("what was left out is not counted:\n%s", said.String())
	}
}
