package blobs

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
)

// partSize is how much of a file one request of an upload carries, the least that S3
// takes. A part that has arrived is all that is seen of an upload's progress, so a line
// has to carry one within the deadline for progress: 175 kB/s with the contract's 30 s.
// With what the library does by itself, five parts of 8 MiB at once, and one of 16 MiB
// where a file is smaller, it would be 1,400 kB/s.
const partSize = 5 << 20

// abortTimeout is how long it may take to tell a store that an upload is given up, so
// that it keeps no parts of it.
const abortTimeout = 5 * time.Second

// pace makes an upload to S3 one part after the other, with a sign to arrived of each
// that the store has. One that is given up is aborted although its context has ended.
func (s *Store) pace(as func(any) bool, arrived chan<- struct{}) {
	var uploads *transfermanager.Client
	if !as(&uploads) {
		return // not S3
	}
	checksums := s.client.Options().RequestChecksumCalculation
	*uploads = *transfermanager.New(s.client, func(o *transfermanager.Options) {
		o.PartSizeBytes, o.MultipartUploadThreshold, o.Concurrency = partSize, partSize, 1
		o.FailTimeout = abortTimeout
		o.RequestChecksumCalculation = checksums // what the bucket's URL says of it
		o.ObjectProgressListeners.Register(arrivals(func() {
			select {
			case arrived <- struct{}{}:
			default: // there is a sign already
			}
		}))
	})
}

// arrivals is told of each part of an upload that the store has.
type arrivals func()

// OnObjectBytesTransferred makes it a listener of the library.
func (told arrivals) OnObjectBytesTransferred(context.Context, *transfermanager.ObjectBytesTransferredEvent) {
	told()
}
