package wire

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// TestSideFiguresShareTheirTime: an answer that reads some of them, and then others, gives all
// of them together the time that it has for them.
func TestSideFiguresShareTheirTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const patience = 300 * time.Millisecond
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		began := time.Now()
		var side Side
		for range 3 { // each waits for a server that says nothing
			limited, done := side.Limited(ctx)
			<-limited.Done()
			done()
		}
		if took := time.Since(began); ctx.Err() != nil || took != patience/sideShare {
			t.Errorf("they took %s of the request's %s", took, patience)
		}
	})
	alone, done := new(Side).Limited(t.Context())
	defer done()
	if deadline, ok := alone.Deadline(); !ok || time.Until(deadline) > sideTimeout {
		t.Errorf("without a deadline of the request they have %s", time.Until(deadline))
	}
}
