package topic

import (
	"context"
	"sync"

	"github.com/ThreeDotsLabs/watermill"
	"github.com/ThreeDotsLabs/watermill/message"
)

// Router runs groups that come and go. A router of watermill's closes itself once the
// last of its handlers has ended, and its wait group panics where one is added in that
// moment. This one has a handler of its own that ends with Close, so that neither happens.
type Router struct {
	*message.Router
	open open
	once sync.Once
}

// NewRouter returns a router that is to Run.
func NewRouter(config message.RouterConfig, logger watermill.LoggerAdapter) (*Router, error) {
	router, err := message.NewRouter(config, logger)
	if err != nil {
		return nil, err
	}
	r := &Router{Router: router, open: make(open)}
	router.AddConsumerHandler("open", "open", r.open, func(*message.Message) error { return nil })
	return r, nil
}

// Close ends the router and waits for its groups, which have to be told to end before.
// From then on no group may be added.
func (r *Router) Close() error {
	r.once.Do(func() { close(r.open) })
	return r.Router.Close()
}

// open is a subscriber whose only subscription says nothing, and ends when it is closed.
type open chan *message.Message

func (o open) Subscribe(context.Context, string) (<-chan *message.Message, error) { return o, nil }

func (o open) Close() error { return nil }
