//go:build unix

package blobs_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
)

// short are deadlines for which a test can wait, and enough is longer than any call may take
// with them on a busy machine: a call that is not given up takes forever.
var (
	short  = blobs.Deadlines{Answer: 100 * time.Millisecond, Progress: 300 * time.Millisecond}
	enough = 20 * time.Second
	// calm are those of a store that answers in time, on a busy machine, too.
	calm = blobs.Deadlines{Answer: enough, Progress: 2 * time.Second}
)

func openWithin(t *testing.T, address string, d blobs.Deadlines) *blobs.Store {
	t.Helper()
	s, err := blobs.OpenWithin(t.Context(), address, d)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// objectStore is an S3 whose every answer is made by handler.
func objectStore(t *testing.T, d blobs.Deadlines, handler http.HandlerFunc) *blobs.Store {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	t.Cleanup(server.CloseClientConnections)
	query := url.Values{"endpoint": {server.URL}, "region": {"none"}, "use_path_style": {"true"}, "anonymous": {"true"}}
	return openWithin(t, "s3://bucket?"+query.Encode(), d)
}

// givesUp holds a call to its deadline.
func givesUp(t *testing.T, what string, after time.Duration, call func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), enough)
	defer cancel()
	err := call(ctx)
	var timeout *blobs.TimeoutError
	if !errors.As(err, &timeout) || timeout.After != after {
		t.Errorf("%s: %v, want no answer within %s", what, err, after)
	}
}

// TestAStoreThatNeverAnswers takes every call and answers none.
func TestAStoreThatNeverAnswers(t *testing.T) {
	t.Parallel()
	silent := func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	}
	s, expected := objectStore(t, short, silent), objectStore(t, short, silent)
	expected.Expect("ours")
	name := blobs.PDFName(uuid.New(), uuid.New(), 1)
	for what, call := range map[string]func(context.Context) error{
		"open":   func(ctx context.Context) error { _, err := s.Open(ctx, name); return err },
		"delete": func(ctx context.Context) error { return s.Delete(ctx, name) },
		"owner":  func(ctx context.Context) error { _, err := s.Owner(ctx); return err },
		"claim":  func(ctx context.Context) error { return s.Claim(ctx, "ours") },
		"check":  func(ctx context.Context) error { return expected.Check(ctx) },
		"write to it": func(ctx context.Context) error {
			_, err := expected.WritePDF(ctx, name, strings.NewReader("%PDF-"))
			return err
		},
		"digest":      func(ctx context.Context) error { _, err := s.Digest(ctx, name); return err },
		"read inputs": func(ctx context.Context) error { _, _, err := s.ReadInputs(ctx, name); return err },
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			givesUp(t, what, short.Answer, call)
		})
	}
	for what, call := range map[string]func(context.Context) error{
		"list": func(ctx context.Context) error { _, err := s.Files(ctx, 0); return err },
		"write": func(ctx context.Context) error {
			_, err := s.WritePDF(ctx, name, strings.NewReader("%PDF-"))
			return err
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			givesUp(t, what, short.Progress, call)
		})
	}
}

// TestAFileThatStopsComing is given up because there is no progress; a slow one is not, however
// long it takes as a whole.
func TestAFileThatStopsComing(t *testing.T) {
	t.Parallel()
	const parts = 8
	trickle := func(upTo int, next func()) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Length", fmt.Sprint(parts))
			for range upTo {
				_, _ = io.WriteString(w, "x")
				w.(http.Flusher).Flush()
				next()
			}
			if upTo < parts {
				<-r.Context().Done()
			}
		}
	}
	stops := objectStore(t, calm, trickle(3, func() {}))
	givesUp(t, "a file that stops", calm.Progress, func(ctx context.Context) error {
		f, err := stops.Open(ctx, "file")
		if err != nil {
			return err
		}
		defer func() { _ = f.Close() }()
		got, err := io.ReadAll(f)
		if string(got) != "xxx" {
			t.Errorf("before it stopped came %q", got)
		}
		if _, again := f.Read(make([]byte, 1)); again == nil || errors.Is(again, io.EOF) {
			t.Errorf("reading on: %v", again)
		}
		return err
	})
	slow := objectStore(t, calm, trickle(parts, func() { time.Sleep(calm.Progress / 4) })) // the pace of the store
	f, err := slow.Open(t.Context(), "file")
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if got, err := io.ReadAll(f); err != nil || len(got) != parts || time.Since(began) < calm.Progress {
		t.Errorf("a slow file: %q, %v, after %s", got, err, time.Since(began))
	}
	if err := f.Close(); err != nil {
		t.Error(err)
	}
}

// TestADirectoryThatHangs has a pipe for a file: opening it hangs in the kernel, like a file of
// a network file system whose server is away. The caller gets an error in time, the calls that
// hang are limited, and everything works when it answers again.
func TestADirectoryThatHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	calmly := openWithin(t, "file://"+dir, calm) // a flush to the disk may take its time
	if _, err := calmly.WritePDF(t.Context(), "whole", strings.NewReader("%PDF-")); err != nil {
		t.Fatal(err)
	}
	s := openWithin(t, "file://"+dir, short)
	pipe := filepath.Join(dir, "hangs")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	open := func(ctx context.Context) error { _, err := s.Open(ctx, "hangs"); return err }
	givesUp(t, "open", short.Answer, open)
	var callers sync.WaitGroup
	var told atomic.Int64
	for range 2 * blobs.CallsAtOnce {
		callers.Go(func() {
			var timeout *blobs.TimeoutError
			if errors.As(open(t.Context()), &timeout) {
				told.Add(1)
			}
		})
	}
	callers.Wait()
	if n := told.Load(); n != 2*blobs.CallsAtOnce {
		t.Errorf("%d of %d callers were told that it hangs", n, 2*blobs.CallsAtOnce)
	}
	if n := s.UnderWay(); n > blobs.CallsAtOnce {
		t.Errorf("%d calls hang", n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := open(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone: %v", err)
	}
	writer, err := os.OpenFile(pipe, os.O_RDWR, 0) // it answers again
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = writer.Close() })
	for deadline := time.Now().Add(enough); s.UnderWay() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("%d calls are still under way", s.UnderWay())
		}
	}
	for deadline := time.Now().Add(enough); ; { // a machine that is busy may need more than the 100 ms once
		there, err := s.Digest(t.Context(), "whole")
		var timeout *blobs.TimeoutError
		if errors.As(err, &timeout) && time.Now().Before(deadline) {
			continue
		}
		if err != nil || there.SizeBytes != 5 {
			t.Errorf("afterwards: %+v, %v", there, err)
		}
		return
	}
}

func TestCheckKnowsTheStore(t *testing.T) {
	t.Parallel()
	s, dir := directory(t)
	if err := s.Claim(t.Context(), "ours"); err != nil {
		t.Fatal(err)
	}
	if err := s.Check(t.Context()); err != nil {
		t.Error(err)
	}
	if found := files(t, dir); len(found) != 1 {
		t.Errorf("it left %v", found)
	}
	theirs := open(t, "file://"+dir)
	theirs.Expect("theirs")
	isAnother(t, "another store", theirs.Check(t.Context()), "ours")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	isAnother(t, "a store that is not mounted", s.Check(t.Context()), "")
	if _, err := os.Stat(dir); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the check made something: %v", err)
	}
}

// TestAStopDoesNotWaitForAStoreThatHangs, which closing a bucket does.
func TestAStopDoesNotWaitForAStoreThatHangs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := blobs.OpenWithin(t.Context(), "file://"+dir, short)
	if err != nil {
		t.Fatal(err)
	}
	pipe := filepath.Join(dir, "hangs")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	givesUp(t, "open", short.Answer, func(ctx context.Context) error { _, err := s.Open(ctx, "hangs"); return err })
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case err := <-closed:
		if err != nil {
			t.Error(err)
		}
	case <-time.After(enough):
		t.Error("it waits")
	}
	if writer, err := os.OpenFile(pipe, os.O_RDWR, 0); err == nil { // for the one that hangs
		_ = writer.Close()
	}
}
