package httpapi

import (
	"errors"
	"io"
	"net/http"
	"time"
)

// arrival is how long the body of a request may take to come (contract, §26). A
// sender of one byte a second would otherwise keep a connection, and whatever the
// server has a bounded number of, for as long as it likes.
type arrival struct {
	body  time.Duration // JSON, and what no route reads
	large time.Duration // what is sent to /ingest or to be verified: megabytes
}

var defaultArrival = arrival{body: 10 * time.Second, large: time.Minute}

// arriveWithin bounds the arrival of a request's body from now on. It holds also where
// nobody reads the body: net/http waits for it before it sends a refusal, and closes
// the connection where it did not come. A recorder in a test has no line to bound.
func arriveWithin(w http.ResponseWriter, patience time.Duration) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(patience))
}

// awaited is a body whose arrival is bounded until its end has been read: a deadline
// that passes while a handler works would end the handler's context.
type awaited struct {
	io.ReadCloser
	line http.ResponseWriter
}

func (a awaited) Read(p []byte) (int, error) {
	n, err := a.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		_ = http.NewResponseController(a.line).SetReadDeadline(time.Time{})
	}
	return n, err
}
