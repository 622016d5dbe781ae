package e2e

import (
	"context"
	"crypto/rand"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/domain/report"
	"muster/eventstore"
	"muster/internal/cli/installation"
	"muster/internal/files/blobs"
	"muster/internal/files/blobs/s3test"
	"muster/internal/testing/pgtest"
)

// gigabyte is what figures are given by.
const gigabyte = 1_000_000_000

// BenchmarkBackupAndRestore says how many seconds a backup and a restore take for each
// gigabyte: of files of half a megabyte in a directory and in a bucket on the same machine, and
// of a database, of which half is events that the restore verifies and half what nothing
// packs any further, as blocks of measurements are. A server of its own, with fsync.
//
//	go test -run '^$' -bench BackupAndRestore -benchtime 1x -timeout 60m ./e2e
func BenchmarkBackupAndRestore(b *testing.B) {
	for name, world := range map[string]struct {
		files, rows int64 // bytes
		bucket      bool
	}{
		"files=directory": {files: gigabyte / 4},
		"files=bucket":    {files: gigabyte / 4, bucket: true},
		"database":        {rows: gigabyte / 4},
	} {
		b.Run(name, func(b *testing.B) {
			pgtest.NeedsDump(b)
			place := func() installed {
				i := installed{url: pgtest.Cluster(b, pgtest.Options{Fsync: true}).Superuser(), dir: filepath.Join(b.TempDir(), "data")}
				if world.bucket {
					i.blobs = s3test.Start(b).URL
				}
				return i
			}
			i := place()
			i.organization(b, "Acme")
			var bytes int64
			if world.files > 0 {
				bytes = i.fillFiles(b, world.files)
			} else {
				bytes = i.fillDatabase(b, world.rows)
			}
			for b.Loop() {
				dir, there := filepath.Join(b.TempDir(), "backup"), place()
				began := time.Now()
				i.must(b, "backup", dir)
				made := time.Now()
				there.must(b, "restore", dir)
				per := gigabyte / float64(bytes)
				b.ReportMetric(made.Sub(began).Seconds()*per, "backup-s/GB")
				b.ReportMetric(time.Since(made).Seconds()*per, "restore-s/GB")
			}
			b.ReportMetric(math.Round(float64(bytes)/1e6), "MB")
		})
	}
}

// fillFiles makes reports, each with a PDF of half a megabyte that nothing packs.
func (i installed) fillFiles(b *testing.B, size int64) (made int64) {
	b.Helper()
	const each = 500_000
	content, inputs := make([]byte, each), `{"nothing":"`+strings.Repeat("x", 10_000)+`"}`
	i.within(b, func(ctx context.Context, in *installation.Installation) error {
		organizations, err := in.Accounts.Organizations(ctx)
		if err != nil {
			return err
		}
		organization := organizations[0].ID
		for ; made < size; made += each {
			id := uuid.New()
			rand.Read(content)
			pdf, err := in.Blobs.WritePDF(ctx, blobs.PDFName(organization, id, 1), strings.NewReader(string(content)))
			if err != nil {
				return err
			}
			facts, err := in.Blobs.WriteInputs(ctx, blobs.InputsName(organization, id, 1), strings.NewReader(inputs))
			if err != nil {
				return err
			}
			ready, err := usecase.Registry().Encode(report.Ready{
				PDFKey: pdf.Name, PDFSHA256: pdf.SHA256, InputsKey: facts.Name, InputsSHA256: facts.SHA256, SizeBytes: pdf.SizeBytes,
			})
			if err != nil {
				return err
			}
			_, err = in.Events.Append(ctx, eventstore.Reports, eventstore.Append{
				Organization: organization, StreamType: report.StreamType, Stream: id, Expected: eventstore.AnyVersion,
				Events: []eventstore.NewEvent{ready}, Metadata: eventstore.Metadata{ActorID: "system:test"},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return made
}

// fillDatabase fills half of size with events of half a kilobyte, and half with random
// bytes. It returns what the database has then.
func (i installed) fillDatabase(b *testing.B, size int64) (made int64) {
	b.Helper()
	const each, atOnce = 500, 500
	i.within(b, func(ctx context.Context, in *installation.Installation) error {
		organizations, err := in.Accounts.Organizations(ctx)
		if err != nil {
			return err
		}
		data := fmt.Appendf(nil, `{"step":1,"totalSteps":3,"label":%q}`, strings.Repeat("x", each))
		for filled := int64(0); filled < size/2; filled += each * atOnce {
			events := make([]eventstore.NewEvent, atOnce)
			for n := range events {
				events[n] = eventstore.NewEvent{Type: report.Name(report.StepCompleted{}), SchemaVersion: 1, Data: data}
			}
			_, err := in.Events.Append(ctx, eventstore.Reports, eventstore.Append{
				Organization: organizations[0].ID, StreamType: report.StreamType, Stream: uuid.New(), Expected: eventstore.AnyVersion,
				Events: events, Metadata: eventstore.Metadata{ActorID: "system:test"},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	db := pgtest.Connect(b, i.url)
	db.MustExec(`CREATE TABLE packed (bytes bytea); ALTER TABLE packed ALTER bytes SET STORAGE EXTERNAL`)
	chunk := make([]byte, 1<<20)
	for filled := int64(0); filled < size/2; filled += int64(len(chunk)) {
		rand.Read(chunk)
		db.MustExec(`INSERT INTO packed VALUES ($1)`, chunk)
	}
	if err := db.Get(&made, `SELECT pg_database_size(current_database())`); err != nil {
		b.Fatal(err)
	}
	return made
}
