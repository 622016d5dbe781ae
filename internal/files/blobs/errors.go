package blobs

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"slices"
	"syscall"

	"github.com/aws/smithy-go"
	smithyhttp "github.com/aws/smithy-go/transport/http"
	"gocloud.dev/gcerrors"
)

// MissingFileError reports that the store has no file with that name. The store answered, and
// is the right one.
type MissingFileError struct{ Name string }

func (e *MissingFileError) Error() string { return "no file " + e.Name }

// DamagedFileError reports a file that is there and is not what was written: the store
// cannot give all of it, or an inputs document does not unpack. To try again does not help.
type DamagedFileError struct {
	Name string
	Err  error
}

func (e *DamagedFileError) Error() string { return e.Name + " is damaged: " + e.Err.Error() }

func (e *DamagedFileError) Unwrap() error { return e.Err }

// FullError reports that the store has no room for a file. Nothing of it is visible.
type FullError struct {
	Name string
	Err  error
}

func (e *FullError) Error() string { return "no space left for " + e.Name }

func (e *FullError) Unwrap() error { return e.Err }

// UnavailableError reports that the store did not do what it was asked, so that nothing
// is known of the file. Err says why: a *TimeoutError, a *RefusedError, an
// *OtherStoreError, or what the network or the file system says.
type UnavailableError struct {
	Doing, Name string
	Err         error
}

func (e *UnavailableError) Error() string {
	return e.Doing + " " + e.Name + " in the blob store: " + e.Err.Error()
}

func (e *UnavailableError) Unwrap() error { return e.Err }

// Passing says whether waiting may help. It does not if the store refuses, is another one or
// may not be written to: a person has to fix that.
func (e *UnavailableError) Passing() bool {
	var refused *RefusedError
	var other *OtherStoreError
	return !errors.As(e.Err, &refused) && !errors.As(e.Err, &other) &&
		!errors.Is(e.Err, fs.ErrPermission) && !errors.Is(e.Err, syscall.EROFS)
}

// RefusedError reports that an object store refused a request for a reason that no retry
// changes: the account, its rights, or the place of the bucket.
type RefusedError struct {
	Operation string // as S3 calls it, such as GetObject
	Code      string // the store's, such as AccessDenied
	ToDo      string // what an operator does about it
	Err       error
}

func (e *RefusedError) Error() string {
	return fmt.Sprintf("%s is refused (%s): %s", e.Operation, e.Code, e.ToDo)
}

func (e *RefusedError) Unwrap() error { return e.Err }

// What an object store calls its refusals, and what to do. Those of rights name the right.
var refusals = map[string]string{
	"InvalidAccessKeyId":           unknownKey,
	"XAdminUserNotFound":           unknownKey, // versitygw
	"SignatureDoesNotMatch":        "the secret does not fit the access key; see AWS_SECRET_ACCESS_KEY",
	"ExpiredToken":                 expired,
	"ExpiredTokenException":        expired,
	"InvalidToken":                 expired,
	"InvalidTokenId":               expired,
	"TokenRefreshRequired":         expired,
	"NoSuchBucket":                 "there is no such bucket; make it, or name another one with --blob-url",
	"AuthorizationHeaderMalformed": elsewhere,
	"PermanentRedirect":            elsewhere,
	"MovedPermanently":             elsewhere, // to HEAD, which has no body
	"RequestTimeTooSkewed":         "the clocks of this machine and of the store differ too much; set them",
}

const (
	unknownKey = "the store does not know the access key; see AWS_ACCESS_KEY_ID"
	expired    = "the session token is over or wrong; get new credentials for AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN"
	elsewhere  = "the bucket is in another region or at another endpoint; see both in --blob-url"
)

// rights are what a policy has to grant for an operation.
var rights = map[string]string{
	"GetObject":               "s3:GetObject, or s3:ListBucket, without which a file that is not there is refused too",
	"HeadObject":              "s3:GetObject, or s3:ListBucket, without which a file that is not there is refused too",
	"PutObject":               "s3:PutObject",
	"CreateMultipartUpload":   "s3:PutObject",
	"UploadPart":              "s3:PutObject",
	"CompleteMultipartUpload": "s3:PutObject",
	"AbortMultipartUpload":    "s3:AbortMultipartUpload",
	"DeleteObject":            "s3:DeleteObject",
	"ListObjectsV2":           "s3:ListBucket",
}

// full are the codes of stores that have no room. A status of 507 says it, too.
var full = []string{"InsufficientStorage", "QuotaExceeded", "XMinioStorageFull", "XMinioAdminBucketQuotaExceeded"}

func isFull(err error) bool {
	var api smithy.APIError
	var answer *smithyhttp.ResponseError
	return errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) ||
		errors.As(err, &api) && slices.Contains(full, api.ErrorCode()) ||
		errors.As(err, &answer) && answer.Response != nil && answer.HTTPStatusCode() == http.StatusInsufficientStorage
}

// refusal says what an object store has against a call; nil: nothing that it said.
func refusal(err error) *RefusedError {
	var operation *smithy.OperationError
	if !errors.As(err, &operation) {
		return nil
	}
	// Who asks is found out by other services, below the operation.
	for inner := operation; errors.As(inner.Err, &inner); {
		if inner.ServiceID != operation.ServiceID {
			return &RefusedError{
				Operation: operation.OperationName, Code: "no credentials", Err: err,
				ToDo: fmt.Sprintf("set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, a profile or a role (%s %s: %s)", inner.ServiceID, inner.OperationName, inner.Err),
			}
		}
	}
	var api smithy.APIError
	if !errors.As(err, &api) {
		return nil
	}
	refused := &RefusedError{Operation: operation.OperationName, Code: api.ErrorCode(), ToDo: refusals[api.ErrorCode()], Err: err}
	if api.ErrorCode() == "AccessDenied" || api.ErrorCode() == "Forbidden" { // the latter to HEAD, which has no body
		refused.ToDo = "the credentials lack the right " + rights[operation.OperationName]
	}
	if refused.ToDo == "" {
		return nil
	}
	return refused
}

// failed gives an error of the store the type that callers match; none stays none. What
// ended with ctx is the caller's affair, and no failure of the store.
func (s *Store) failed(ctx context.Context, doing, name string, err error) error {
	var known *UnavailableError
	switch {
	case err == nil:
		return nil
	case errors.As(err, &known):
		return err
	case ctx.Err() != nil:
		return fmt.Errorf("%s %s in the blob store: %w", doing, name, err)
	case isFull(err):
		return &FullError{Name: name, Err: err}
	}
	if refused := refusal(err); refused != nil {
		return &UnavailableError{Doing: doing, Name: name, Err: refused}
	}
	if gcerrors.Code(err) != gcerrors.NotFound {
		return &UnavailableError{Doing: doing, Name: name, Err: err}
	}
	if name != marker { // missing from another store says nothing
		if err := s.recognize(ctx); err != nil {
			return err
		}
	}
	return &MissingFileError{Name: name}
}
