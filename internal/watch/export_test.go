package watch

import "context"

// ListenOnce is one turn of Listen.
func (w *Watch) ListenOnce(ctx context.Context) error { return w.listens(ctx) }
