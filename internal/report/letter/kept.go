package letter

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"

	"muster/domain/report"
	"muster/internal/files/blobs"
	"muster/internal/mail"
	"muster/internal/report/snapshot"
)

// Kept is the mail of the digest among a report's files; nil: the report is of another kind. The file is held against
// its digest in Ready, so that the mail says what the log attests.
func Kept(ctx context.Context, store *blobs.Store, files []report.File, publicURL string) (*mail.Digest, error) {
	i := slices.IndexFunc(files, func(f report.File) bool { return f.Name == report.DigestFile })
	if i < 0 {
		return nil, nil //nolint:nilnil // most kinds have none
	}
	kept, err := store.Open(ctx, files[i].Key)
	if err != nil {
		return nil, err
	}
	defer func() { _ = kept.Close() }()
	var text bytes.Buffer
	if _, err := io.Copy(&text, kept); err != nil {
		return nil, err
	}
	if sum := snapshot.Digest(text.Bytes()); sum != files[i].SHA256 {
		return nil, fmt.Errorf("%s has the SHA-256 %s, recorded is %s", report.DigestFile, sum, files[i].SHA256)
	}
	return Read(text.Bytes(), publicURL)
}
