package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/files/blobs"
)

// kept is a file that the log says is kept.
type kept struct {
	organization, report uuid.UUID
	name                 string // in the blob store
	sha256               string // as recorded: of the PDF or companion, or of the uncompressed inputs document
	inputs               bool
}

// upTo is how far the logs are read that say which files there are.
type upTo struct{ reports, organizations int64 }

// keptFiles lists the files that the logs up to their positions name, in the order in which
// they were made: the PDFs of reports that have not expired with their companions, and the
// inputs that were not erased; none of a deleted organization. Events whose files this program
// cannot determine are listed separately.
func keptFiles(ctx context.Context, events *eventstore.Store, registry *eventstore.Registry, to upTo) (files []kept, unread []Absent, err error) {
	if to.reports == 0 {
		return nil, nil, nil
	}
	deleted, err := deletedOrganizations(ctx, events, to.organizations)
	if err != nil {
		return nil, nil, err
	}
	gone := make(map[kept]bool) // by report and kind of file
	ready, signed, expired, inputsErased := report.Name(report.Ready{}), report.Name(report.Signed{}), report.Name(report.Expired{}), report.Name(report.InputsErased{})
	filter := eventstore.Filter{UpTo: to.reports, Types: []string{ready, signed, expired, inputsErased}}
	for e, err := range events.Read(ctx, eventstore.Reports, filter) {
		if err != nil {
			return nil, nil, fmt.Errorf("read which files the log names: %w", err)
		}
		switch e.Type {
		case expired:
			gone[kept{report: e.Stream}] = true
		case inputsErased:
			gone[kept{report: e.Stream, inputs: true}] = true
		case signed:
			// Of a lost one there is another: the last is kept.
			files = slices.DeleteFunc(files, func(f kept) bool { return f.report == e.Stream && blobs.IsSigned(f.name) })
			fallthrough
		case ready:
			named, ok := filesOf(registry, e)
			if !ok {
				unread = append(unread, Absent{Name: fmt.Sprintf("files of event %s:%d", e.Log, e.Position), Reason: unreadable})
				continue
			}
			files = append(files, named...)
		}
	}
	files = slices.DeleteFunc(files, func(f kept) bool {
		return deleted[f.organization] || gone[kept{report: f.report, inputs: f.inputs}]
	})
	return files, unread, nil
}

// deletedOrganizations are those that the log up to a position says are deleted.
func deletedOrganizations(ctx context.Context, events *eventstore.Store, upTo int64) (map[uuid.UUID]bool, error) {
	deleted := make(map[uuid.UUID]bool)
	if upTo == 0 {
		return deleted, nil
	}
	filter := eventstore.Filter{UpTo: upTo, Types: []string{organization.Name(organization.Deleted{})}}
	for e, err := range events.Read(ctx, eventstore.Organization, filter) {
		if err != nil {
			return nil, fmt.Errorf("read which organizations the log says are deleted: %w", err)
		}
		deleted[e.OrganizationID] = true
	}
	return deleted, nil
}

// filesOf are the files of a finished build, or of its signature; !ok: the event cannot be
// decoded or names none, because it was tampered with, or is of a newer program.
func filesOf(registry *eventstore.Registry, e eventstore.Event) (files []kept, ok bool) {
	decoded, err := registry.Decode(e)
	if err != nil {
		return nil, false
	}
	file := func(name, sha256 string) kept {
		return kept{organization: e.OrganizationID, report: e.Stream, name: name, sha256: sha256}
	}
	switch event := decoded.(type) {
	case report.Ready:
		inputs := file(event.InputsKey, event.InputsSHA256)
		inputs.inputs = true
		files = []kept{file(event.PDFKey, event.PDFSHA256), inputs}
		for _, f := range event.Files {
			files = append(files, file(f.Key, f.SHA256))
		}
	case report.Signed:
		files = []kept{file(event.Key, event.SHA256)}
	default:
		return nil, false
	}
	return files, !slices.ContainsFunc(files, func(f kept) bool { return !expected(blobsDir + "/" + f.name) })
}

// matches says whether the file in a store is what the log says. Errors:
// *blobs.MissingFileError.
func (k kept) matches(ctx context.Context, store *blobs.Store) (bool, error) {
	digest, err := k.digest(ctx, store)
	var changed *blobs.DamagedFileError
	if errors.As(err, &changed) {
		return false, nil
	}
	return err == nil && digest == k.sha256, err
}

func (k kept) digest(ctx context.Context, store *blobs.Store) (string, error) {
	if k.inputs {
		_, digest, err := store.ReadInputs(ctx, k.name)
		return digest, err
	}
	found, err := store.Digest(ctx, k.name)
	return found.SHA256, err
}

// openBlobs opens the files of reports in a backup's directory as a store.
func openBlobs(ctx context.Context, dir string) (*blobs.Store, error) {
	absolute, err := filepath.Abs(filepath.Join(dir, blobsDir))
	if err != nil {
		return nil, fmt.Errorf("open the files of the backup: %w", err)
	}
	return blobs.Open(ctx, (&url.URL{Scheme: "file", Path: filepath.ToSlash(absolute)}).String())
}

// measure returns size and digest of a file of a backup.
func measure(dir, name string) (KeptFile, error) {
	file, err := os.Open(filepath.Join(dir, filepath.FromSlash(name)))
	if err != nil {
		return KeptFile{}, err
	}
	defer func() { _ = file.Close() }()
	sum := sha256.New()
	size, err := io.Copy(sum, file)
	if err != nil {
		return KeptFile{}, fmt.Errorf("read %s: %w", name, err)
	}
	return KeptFile{Name: name, SizeBytes: size, SHA256: hex.EncodeToString(sum.Sum(nil))}, nil
}
