package blobs_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
)

// says answers no as S3 does.
func says(w http.ResponseWriter, status int, code string) {
	w.Header().Set("Content-Type", "application/xml")
	w.WriteHeader(status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>No.</Message><RequestId>1</RequestId></Error>`, code)
}

// TestAnObjectStoreThatRefuses names the remedy, and does not count as one without such a file.
func TestAnObjectStoreThatRefuses(t *testing.T) {
	t.Parallel()
	for code, test := range map[string]struct {
		status int
		want   string
	}{
		"InvalidAccessKeyId":           {http.StatusForbidden, "AWS_ACCESS_KEY_ID"},
		"SignatureDoesNotMatch":        {http.StatusForbidden, "AWS_SECRET_ACCESS_KEY"},
		"ExpiredToken":                 {http.StatusBadRequest, "AWS_SESSION_TOKEN"},
		"AccessDenied":                 {http.StatusForbidden, "lack the right s3:"},
		"NoSuchBucket":                 {http.StatusNotFound, "--blob-url"},
		"AuthorizationHeaderMalformed": {http.StatusBadRequest, "another region"},
		"RequestTimeTooSkewed":         {http.StatusForbidden, "clocks"}, // and the answer's date says otherwise
	} {
		s := objectStore(t, calm, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			says(w, test.status, code)
		})
		name := blobs.PDFName(uuid.New(), uuid.New(), 1)
		for what, call := range map[string]func(context.Context) error{
			"open":  func(ctx context.Context) error { _, err := s.Open(ctx, name); return err },
			"list":  func(ctx context.Context) error { _, err := s.Files(ctx, 0); return err },
			"claim": func(ctx context.Context) error { return s.Claim(ctx, "ours") },
			"write": func(ctx context.Context) error {
				_, err := s.WritePDF(ctx, name, strings.NewReader("%PDF-"))
				return err
			},
		} {
			t.Run(code+"/"+what, func(t *testing.T) {
				t.Parallel()
				err := call(t.Context())
				var away *blobs.UnavailableError
				var refused *blobs.RefusedError
				if !errors.As(err, &away) || away.Passing() || !errors.As(err, &refused) || refused.Code != code || !strings.Contains(err.Error(), test.want) {
					t.Errorf("%v, want a refusal that says %s", err, test.want)
				}
			})
		}
	}
	forbidden := objectStore(t, calm, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) }) // as to HEAD
	var refused *blobs.RefusedError
	if err := forbidden.Delete(t.Context(), "file"); !errors.As(err, &refused) || !strings.Contains(err.Error(), "s3:GetObject") {
		t.Errorf("delete: %v", err)
	}
}

// TestAnObjectStoreWithoutRoom, as the ones that there are say it.
func TestAnObjectStoreWithoutRoom(t *testing.T) {
	t.Parallel()
	for code, status := range map[string]int{
		"InsufficientStorage": http.StatusInsufficientStorage, // versitygw
		"QuotaExceeded":       http.StatusForbidden,           // versitygw, Ceph
		"XMinioStorageFull":   http.StatusInsufficientStorage,
		"Whatever":            http.StatusInsufficientStorage,
	} {
		s := objectStore(t, calm, func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			says(w, status, code)
		})
		var full *blobs.FullError
		if _, err := s.WritePDF(t.Context(), "file", strings.NewReader("%PDF-")); !errors.As(err, &full) {
			t.Errorf("%s: %v, want *FullError", code, err)
		}
	}
}

// TestAnObjectStoreThatIsBusy is asked three times by AWS' library, with pauses, and no
// more by us.
func TestAnObjectStoreThatIsBusy(t *testing.T) {
	t.Parallel()
	for refusals, want := range map[int64]bool{2: true, 3: false} {
		t.Run(fmt.Sprint(refusals), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int64
			s := objectStore(t, calm, func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) <= refusals {
					says(w, http.StatusServiceUnavailable, "SlowDown")
				}
			})
			_, err := s.Open(t.Context(), "file")
			var away *blobs.UnavailableError
			if want != (err == nil) || !want && (!errors.As(err, &away) || !away.Passing()) || asked.Load() != 3 {
				t.Errorf("asked %d times: %v", asked.Load(), err)
			}
		})
	}
}

// TestAnObjectStoreWithAnotherClock refuses what is signed at another time than its own.
// AWS' library learns the time from the answer, and keeps it.
func TestAnObjectStoreWithAnotherClock(t *testing.T) {
	t.Parallel()
	var refused atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		now := time.Now().Add(time.Hour)
		w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
		signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
		if err != nil || now.Sub(signed).Abs() > 15*time.Minute {
			refused.Add(1)
			says(w, http.StatusForbidden, "RequestTimeTooSkewed")
		}
	}))
	t.Cleanup(server.Close)
	query := url.Values{"endpoint": {server.URL}, "region": {"none"}, "use_path_style": {"true"}}
	s := openWithin(t, "s3://bucket?"+query.Encode(), calm)
	for range 2 {
		f, err := s.Open(t.Context(), "file")
		if err != nil {
			t.Fatal(err)
		}
		_ = f.Close()
	}
	if n := refused.Load(); n != 1 {
		t.Errorf("it refused %d requests, want the first", n)
	}
}

// TestAnUploadThatIsSlow takes longer than the deadline for progress and shows some all
// the while: each part that the store has counts.
func TestAnUploadThatIsSlow(t *testing.T) {
	t.Parallel()
	within := blobs.Deadlines{Answer: enough, Progress: 4 * time.Second}
	var parts atomic.Int64
	s := objectStore(t, within, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		switch {
		case r.URL.Query().Has("uploads"):
			_, _ = io.WriteString(w, `<InitiateMultipartUploadResult><UploadId>1</UploadId></InitiateMultipartUploadResult>`)
		case r.URL.Query().Has("partNumber"):
			parts.Add(1)
			time.Sleep(within.Progress / 2) // the pace of the store
			w.Header().Set("ETag", `"1"`)
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `<CompleteMultipartUploadResult><ETag>"1"</ETag></CompleteMultipartUploadResult>`)
		}
	})
	began := time.Now()
	written, err := s.WritePDF(t.Context(), "file", bytes.NewReader(make([]byte, 2*blobs.PartSize+1)))
	if err != nil || written.SizeBytes != 2*blobs.PartSize+1 || parts.Load() != 3 || time.Since(began) < within.Progress {
		t.Errorf("%+v in %d parts after %s: %v", written, parts.Load(), time.Since(began), err)
	}
}

// TestAStoreWithoutARegion and one without credentials say so when they are opened, or
// asked.
func TestAStoreWithoutARegion(t *testing.T) {
	t.Parallel()
	_, err := blobs.Open(t.Context(), "s3://bucket")
	if err == nil || !strings.Contains(err.Error(), "region=") || !strings.Contains(err.Error(), "--blob-url") {
		t.Errorf("no region: %v", err)
	}
	_, err = blobs.Open(t.Context(), "s3://bucket?region=none&profile=nobody")
	if err == nil || !strings.Contains(err.Error(), "nobody") {
		t.Errorf("no such profile: %v", err)
	}
}
