package e2e

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/commands/usecase"
	"muster/handlers"
	"muster/internal/cli/installation"
	"muster/internal/files/blobs"
	"muster/internal/testing/pgtest"
)

// settle waits until there is nothing left to build, to mail or to sign. What hundreds of
// killed workers leave takes longer than the slowest single thing may (7 jobs a
// second on 2 cores), so the patience is with each job that ends: a queue of which
// nothing ends any more fails.
func (i installed) settle(t testing.TB) {
	t.Helper()
	db := pgtest.Connect(t, i.url)
	for left, fewest := -1, -1; left != 0; fewest = left {
		eventually(t, "less is left to build, to mail or to sign", func() bool {
			if err := db.Get(&left, `SELECT count(*) FROM jobs WHERE dead_at IS NULL AND kind IN ('build', 'mail', 'sign')`); err != nil {
				t.Fatal(err)
			}
			return left == 0 || fewest < 0 || left < fewest
		})
	}
}

// wellEnded holds everything that was requested to what holds after any bad
// day: each request has one end, no file is without an event and no Ready
// without its file, and no recipient without exactly one outcome of their mail.
// It returns how many reports ended how.
func (i installed) wellEnded(t testing.TB) map[string]int {
	t.Helper()
	i.settle(t)
	i.must(t, "events", "verify")
	i.must(t, "projections", "rebuild", "report_history", "--stop-on-difference")
	ends := make(map[string]int)
	kept := make(map[string]string) // files that events name, and their digests
	for id, stream := range i.streams(t) {
		count := make(map[string]int)
		var ready, signed *line
		for _, e := range stream {
			count[e.Type]++
			switch e.Type {
			case "report.ready":
				ready = &e
			case "report.signed":
				signed = &e
			}
		}
		if count["report.queued"] != 1 || count["report.build_started"] != 1 || count["report.ready"]+count["report.failed"] != 1 {
			t.Errorf("report %s has the events %v", id, count)
		}
		if ready == nil {
			ends["Failed"]++
			continue
		}
		ends["Ready"]++
		pdf, inputs := ready.Data["pdfKey"].(string), ready.Data["inputsKey"].(string)
		kept[pdf], kept[inputs] = ready.Data["pdfSha256"].(string), ""
		tables, _ := ready.Data["files"].([]any)
		for _, f := range tables {
			table := f.(map[string]any)
			kept[table["key"].(string)] = table["sha256"].(string)
		}
		if signed != nil {
			kept[signed.Data["key"].(string)] = signed.Data["sha256"].(string)
		}
		if n := count["report.signed"]; n > 1 || n == 0 && count["report.expired"] == 0 {
			t.Errorf("report %s was signed %d times", id, n)
		}
		mailed(t, id, *ready, stream)
	}
	i.sweep(t)
	i.files(t, kept)
	return ends
}

// streams are the events of every report.
func (i installed) streams(t testing.TB) map[uuid.UUID][]line {
	t.Helper()
	streams := make(map[uuid.UUID][]line)
	for _, e := range i.events(t, "--log", "reports") {
		streams[e.StreamID] = append(streams[e.StreamID], e)
	}
	return streams
}

// mailed looks for one outcome of the mail to each recipient of a Ready report.
func mailed(t testing.TB, id uuid.UUID, ready line, stream []line) {
	t.Helper()
	outcomes := make(map[any]int)
	for _, e := range stream {
		if e.Type == "report.email_sent" || e.Type == "report.email_failed" {
			outcomes[e.Data["memberId"]]++
		}
	}
	recipients, _ := ready.Data["recipientIds"].([]any)
	for _, r := range recipients {
		if outcomes[r] != 1 {
			t.Errorf("recipient %s of report %s has %d outcomes of their mail", r, id, outcomes[r])
		}
	}
	if len(outcomes) != len(recipients) || len(recipients) == 0 {
		t.Errorf("report %s went to %d of %d recipients", id, len(outcomes), len(recipients))
	}
}

// sweep runs the hourly sweep now.
func (i installed) sweep(t testing.TB) {
	t.Helper()
	i.within(t, func(ctx context.Context, in *installation.Installation) error {
		sweeper := &handlers.Sweeper{Parts: handlers.Parts{
			DB: in.DB, Queue: in.Queue, Events: in.Events, Registry: usecase.Registry(), Blobs: in.Blobs, Accounts: in.Accounts, Now: time.Now,
		}}
		_, err := sweeper.Sweep(ctx)
		return err
	})
}

// files holds the blob store to what events name: nothing more, nothing less,
// and every PDF and table as it was recorded.
func (i installed) files(t testing.TB, kept map[string]string) {
	t.Helper()
	store, err := blobs.Open(t.Context(), cmp.Or(i.blobs, "file://"+filepath.Join(i.dir, "blobs")))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	var found []string
	for file, err := range store.List(t.Context(), blobs.Prefix) {
		if err != nil {
			t.Fatal(err)
		}
		name := file.Name
		found = append(found, name)
		digest, ok := kept[name]
		if !ok {
			t.Errorf("no event names the file %s", name)
		} else if there, err := store.Digest(t.Context(), name); err != nil || digest != "" && there.SHA256 != digest {
			t.Errorf("%s is not what was recorded: %v", name, err)
		}
	}
	for name := range kept {
		if !slices.Contains(found, name) {
			t.Errorf("the file %s of a Ready report is not there", name)
		}
	}
}
