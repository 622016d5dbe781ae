package blobs

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/feature/s3/transfermanager"
	"github.com/aws/aws-sdk-go-v2/service/s3"
)

// partSize is how much of a file one request of an upload carries, the least that S3
// takes. A part that has arrived is all that is seen of an upload's progress, so a line
// has to carry one within the deadline for progress: 175 kB/s with the contract's 30 s.
// With what the library does by itself, five parts of 8 MiB at once, and one of 16 MiB
// where a file is smaller, it would be 1,400 kB/s.
const partSize = 5 << 20

// abortTimeout is how long it may take to tell a store that an upload is given up, so
// that it keeps no parts of it, and before that to end what is under way.
const abortTimeout = 5 * time.Second

// pace makes an upload to S3 one part after the other, and signals each stored part to arrived.
// An upload that is given up is aborted although its context has ended.
func (s *Store) pace(as func(any) bool, arrived chan<- struct{}) {
	var uploads *transfermanager.Client
	if !as(&uploads) {
		return // not S3
	}
	checksums := s.client.Options().RequestChecksumCalculation
	*uploads = *transfermanager.New(uploader{s.client}, func(o *transfermanager.Options) {
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

// uploader is the client of uploads that may be given up. Calls in progress then get
// abortTimeout to end: without the answer to its beginning the upload cannot be aborted, and a
// part that arrives after that would stay.
type uploader struct{ *s3.Client }

// CreateMultipartUpload is s3.Client's, as is UploadPart.
func (u uploader) CreateMultipartUpload(ctx context.Context, in *s3.CreateMultipartUploadInput, options ...func(*s3.Options)) (*s3.CreateMultipartUploadOutput, error) {
	within, cancel := lingering(ctx)
	defer cancel()
	return u.Client.CreateMultipartUpload(within, in, options...)
}

// UploadPart sends a part.
func (u uploader) UploadPart(ctx context.Context, in *s3.UploadPartInput, options ...func(*s3.Options)) (*s3.UploadPartOutput, error) {
	within, cancel := lingering(ctx)
	defer cancel()
	return u.Client.UploadPart(within, in, options...)
}

// lingering ends abortTimeout after ctx does.
func lingering(ctx context.Context) (context.Context, func()) {
	within, cancel := context.WithCancel(context.WithoutCancel(ctx))
	forget := context.AfterFunc(ctx, func() { time.AfterFunc(abortTimeout, cancel) })
	return within, func() { forget(); cancel() }
}

// arrivals gets a signal for each part of an upload that the store has.
type arrivals func()

// OnObjectBytesTransferred makes it a listener of the library.
func (told arrivals) OnObjectBytesTransferred(context.Context, *transfermanager.ObjectBytesTransferredEvent) {
	told()
}
