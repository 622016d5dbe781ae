package mail

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"mime"
	netmail "net/mail"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"muster/internal/files/atomicfile"
)

const extension = ".eml"

// Outbox is the directory that stands in for a mail server.
type Outbox struct{ dir string }

var _ Transport = (*Outbox)(nil)

// NewOutbox returns the outbox in dir, which is made where it does not exist.
func NewOutbox(dir string) (*Outbox, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("mail outbox: %w", err)
	}
	return &Outbox{dir: dir}, nil
}

// Send writes the message beside its place and renames it, so that a file in
// the outbox is always whole; the same mail again replaces it.
func (o *Outbox) Send(_ context.Context, m ComposedMail) (Handover, error) {
	if err := o.write(m); err != nil {
		return Handover{}, &DeliveryError{Stage: Storing, Temporary: true, Text: err.Error()}
	}
	return Handover{}, nil
}

// Check says whether a file can be made in the directory. It leaves none.
func (o *Outbox) Check(context.Context) error {
	f, err := os.CreateTemp(o.dir, ".check.*.tmp")
	if err != nil {
		return fmt.Errorf("write to the outbox: %w", err)
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

func (o *Outbox) write(m ComposedMail) error {
	var content bytes.Buffer
	if _, err := m.msg.WriteTo(&content); err != nil {
		return err
	}
	return atomicfile.Replace(filepath.Join(o.dir, m.Name+extension), content.Bytes(), nil)
}

// OutboxMail is one mail of the outbox.
type OutboxMail struct {
	ID      string // for Read
	To      string
	Subject string
	At      time.Time
	Size    int64
}

// List returns the mails to members of an organization, newest first, at most limit.
func (o *Outbox) List(organization uuid.UUID, limit int) ([]OutboxMail, error) {
	names, err := filepath.Glob(filepath.Join(o.dir, organization.String()+".*"+extension))
	if err != nil {
		return nil, fmt.Errorf("list the outbox: %w", err)
	}
	entries := make([]OutboxMail, 0, len(names))
	for _, name := range names {
		info, err := os.Stat(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue // taken away meanwhile
		}
		if err != nil {
			return nil, fmt.Errorf("list the outbox: %w", err)
		}
		entries = append(entries, OutboxMail{
			ID: strings.TrimSuffix(filepath.Base(name), extension), At: info.ModTime().UTC(), Size: info.Size(),
		})
	}
	slices.SortFunc(entries, func(a, b OutboxMail) int { return cmp.Or(b.At.Compare(a.At), strings.Compare(a.ID, b.ID)) })
	entries = entries[:min(limit, len(entries))]
	for i := range entries {
		if err := o.head(&entries[i]); err != nil {
			return nil, err
		}
	}
	return entries, nil
}

func (o *Outbox) head(e *OutboxMail) error {
	f, err := os.Open(filepath.Join(o.dir, e.ID+extension))
	if err != nil {
		return fmt.Errorf("read a mail of the outbox: %w", err)
	}
	defer func() { _ = f.Close() }()
	m, err := netmail.ReadMessage(f)
	if err != nil {
		return fmt.Errorf("read a mail of the outbox: %w", err)
	}
	decoder := new(mime.WordDecoder)
	if e.Subject, err = decoder.DecodeHeader(m.Header.Get("Subject")); err != nil {
		e.Subject = m.Header.Get("Subject")
	}
	if e.To, err = decoder.DecodeHeader(m.Header.Get("To")); err != nil {
		e.To = m.Header.Get("To")
	}
	return nil
}

var outboxID = regexp.MustCompile(`^[0-9a-f-]{36}\.[0-9a-f-]{36}\.[0-9a-f-]{36}$`)

// Open opens one mail in full (message/rfc822); ok is false where the
// organization has none of that id.
func (o *Outbox) Open(organization uuid.UUID, id string) (mail io.ReadCloser, ok bool, err error) {
	if !outboxID.MatchString(id) || !strings.HasPrefix(id, organization.String()+".") {
		return nil, false, nil
	}
	f, err := os.Open(filepath.Join(o.dir, id+extension))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("read a mail of the outbox: %w", err)
	}
	return f, true, nil
}
