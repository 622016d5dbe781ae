package reports

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestAFileIsHashedWhileItIsCopied: its copy is complete, and a file that cannot be read or written has no
// digest.
func TestAFileIsHashedWhileItIsCopied(t *testing.T) {
	t.Parallel()
	cut, full := errors.New("the line was cut"), errors.New("the disk is full")
	for name, c := range map[string]struct {
		from io.Reader
		to   io.Writer
		err  error
		copy string
		want string
	}{
		"nothing":           {from: strings.NewReader(""), want: "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
		"a file":            {from: strings.NewReader("abc"), copy: "abc", want: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		"in pieces":         {from: iotest.OneByteReader(strings.NewReader("abc")), copy: "abc", want: "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
		"cut off":           {from: io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(cut)), err: cut, copy: "abc"},
		"cannot be written": {from: strings.NewReader("abc"), to: refusing{full}, err: full},
	} {
		var copied bytes.Buffer
		to := c.to
		if to == nil {
			to = &copied
		}
		digest, err := hashed(to, c.from)
		if digest != c.want || !errors.Is(err, c.err) || copied.String() != c.copy {
			t.Errorf("%s: %q, %v; the copy has %q", name, digest, err, copied.String())
		}
	}
}

// TestTheBeginningOfAFileIsKept: a byte more than is looked into, so that a larger file is known
// as one.
func TestTheBeginningOfAFileIsKept(t *testing.T) {
	t.Parallel()
	body := &head{}
	if _, err := hashed(body, io.LimitReader(zeros{}, evidenceAtMost+1000)); err != nil || len(body.kept) != evidenceAtMost+1 {
		t.Errorf("kept are %d bytes, %v", len(body.kept), err)
	}
}

type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }
