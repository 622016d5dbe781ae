package collect

import "context"

// EndLooks has every look end when over is closed.
func (c *Collector) EndLooks(over <-chan struct{}) {
	c.limit = func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, end := context.WithCancel(ctx)
		go func() {
			select {
			case <-over:
			case <-ctx.Done():
			}
			end()
		}()
		return ctx, end
	}
}
