package eventstore_test

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"iter"

	"muster/eventstore"
)

// A use case folds a stream, decides, and appends behind what it read. Fold
// reads any sequence of events; in a program it is Store.Load.
func ExampleFold() {
	registry := eventstore.NewRegistry()
	registry.Register("hotel.opened", 1, opened{})
	registry.Register("hotel.closed", 1, closed{})
	if err := registry.Err(); err != nil {
		fmt.Println(err)
		return
	}

	open := false
	version, err := eventstore.Fold(registry, stored(), func(event any, _ eventstore.Event) {
		switch event.(type) {
		case opened:
			open = true
		case closed:
			open = false
		}
	})
	fmt.Println(open, version, err)
	// Output: false 2 <nil>
}

func stored() iter.Seq2[eventstore.Event, error] {
	return func(yield func(eventstore.Event, error) bool) {
		_ = yield(eventstore.Event{Type: "hotel.opened", SchemaVersion: 1, Version: 1, Data: []byte(`{"title":"Grand"}`)}, nil) &&
			yield(eventstore.Event{Type: "hotel.closed", SchemaVersion: 1, Version: 2, Data: []byte(`{}`)}, nil)
	}
}

// An upcaster turns the bytes of one schema version into those of the next.
func ExampleRegistry_Upcast() {
	registry := eventstore.NewRegistry()
	registry.Register("hotel.opened", 2, opened{})
	registry.Upcast("hotel.opened", 1, func([]byte) ([]byte, error) {
		return []byte(`{"title":"before titles were recorded","rooms":1}`), nil
	})
	event, err := registry.Decode(eventstore.Event{Type: "hotel.opened", SchemaVersion: 1, Data: []byte(`{}`)})
	fmt.Printf("%+v %v\n", event, err)

	_, err = registry.Decode(eventstore.Event{Type: "hotel.opened", SchemaVersion: 3})
	var unknown *eventstore.UnknownEventError
	fmt.Println(errors.As(err, &unknown), err)
	// Output:
	// {Title:before titles were recorded Rooms:1} <nil>
	// true event type "hotel.opened" has schema version 3, and this program knows up to 2
}

// A head on paper is enough to notice that a log was rewritten.
func ExampleSignHead() {
	seed := make([]byte, ed25519.SeedSize) // from the installation's secret key
	key := ed25519.NewKeyFromSeed(seed)
	head, err := eventstore.ParseWitness("reports:1204:9f2c41d07be3a5568c1f0e2b7a94d3c6e8f5b1027d6c9a3e4f80b2d517c6a9e3")
	if err != nil {
		fmt.Println(err)
		return
	}
	line := eventstore.SignHead(key, head).String()

	signed, err := eventstore.ParseSignedHead(line)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(eventstore.VerifySignedHead(key.Public().(ed25519.PublicKey), signed))
	signed.Head.Position++
	fmt.Println(eventstore.VerifySignedHead(key.Public().(ed25519.PublicKey), signed))
	// Output:
	// <nil>
	// head reports:1205:9f2c41d07be3a5568c1f0e2b7a94d3c6e8f5b1027d6c9a3e4f80b2d517c6a9e3 was not signed by this key
}
