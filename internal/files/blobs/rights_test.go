package blobs_test

import (
	"bytes"
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/uuid"

	"muster/internal/files/blobs"
	"muster/internal/files/blobs/s3test"
)

// TestStrangersToAnObjectStore get the reason from a real one.
func TestStrangersToAnObjectStore(t *testing.T) {
	t.Parallel()
	server := s3test.Start(t)
	for address, want := range map[string]string{
		server.As(t, "NOBODY", "whatever"):   "AWS_ACCESS_KEY_ID",
		server.As(t, s3test.Key, "mistyped"): "AWS_SECRET_ACCESS_KEY",
		server.Missing():                     "there is no such bucket",
	} {
		var away *blobs.UnavailableError
		if err := open(t, address).Claim(t.Context(), "ours"); !errors.As(err, &away) || away.Passing() || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want that it names %s", err, want)
		}
	}
	if names := server.Names(t); len(names) != 0 {
		t.Errorf("they left %v", names)
	}
}

// policyOf is the policy of docs/operators.md, for the test's bucket.
func policyOf(t *testing.T) string {
	t.Helper()
	page, err := os.ReadFile("../../../docs/operators.md")
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile("(?s)```json\n(\\{\n +\"Version\": \"2012-10-17\".*?)```").FindSubmatch(page)
	if found == nil {
		t.Fatal("docs/operators.md has no policy of a bucket")
	}
	return strings.ReplaceAll(string(found[1]), ":::muster-reports", ":::muster")
}

// use does to a store all that Muster does, and returns what of that failed.
func use(t *testing.T, s *blobs.Store) map[string]error {
	t.Helper()
	failed := map[string]error{}
	organization, report := uuid.New(), uuid.New()
	small, large := blobs.PDFName(organization, report, 1), blobs.PDFName(organization, report, 2)
	failed["claim"] = s.Claim(t.Context(), "ours")
	s.Expect("") // what one right is for is tried without the others
	_, failed["write"] = s.WritePDF(t.Context(), small, strings.NewReader("%PDF-"))
	_, failed["write in parts"] = s.WritePDF(t.Context(), large, bytes.NewReader(make([]byte, blobs.PartSize+1)))
	_, failed["read"] = s.Digest(t.Context(), small)
	_, failed["list"] = s.Files(t.Context(), 0)
	failed["delete"] = errors.Join(s.Delete(t.Context(), small), s.Delete(t.Context(), large))
	broken := errors.New("the source broke off")
	from := &midway{content: bytes.NewReader(make([]byte, 2*blobs.PartSize)), left: blobs.PartSize + 1<<20}
	if _, err := s.WritePDF(t.Context(), blobs.PDFName(organization, report, 3), breaking{from, broken}); !errors.Is(err, broken) {
		failed["break off"] = err
	}
	for what, err := range failed {
		if err == nil {
			delete(failed, what)
		}
	}
	return failed
}

// breaking fails once what it reads from has nothing left.
type breaking struct {
	from *midway
	err  error
}

func (b breaking) Read(p []byte) (int, error) {
	if b.from.left <= 0 {
		return 0, b.err
	}
	return b.from.Read(p)
}

// TestTheRightsToAnObjectStore: the policy of the operators' page suffices, and without any
// right of it something fails, which names the right.
func TestTheRightsToAnObjectStore(t *testing.T) {
	t.Parallel()
	policy := policyOf(t)
	granted := regexp.MustCompile(`"(s3:\w+)"`).FindAllStringSubmatch(policy, -1)
	if len(granted) != 5 {
		t.Errorf("the policy grants %v", granted)
	}
	if os.Getenv("MINIO") == "" {
		t.Skip("versitygw gives no credentials that a policy limits: make test-all tries it with MinIO")
	}
	server := s3test.Start(t)
	if failed := use(t, open(t, server.Granted(t, policy))); len(failed) > 0 {
		t.Errorf("with all of the policy fail %v", failed)
	}
	if left := server.Uploads(t); len(left) > 0 {
		t.Errorf("with all of the policy stay parts of %v", left)
	}
	fails := map[string][]string{
		"s3:GetObject": {"claim", "read", "delete"}, "s3:PutObject": {"write", "write in parts", "break off"},
		"s3:DeleteObject": {"delete"}, "s3:ListBucket": {"list"}, "s3:AbortMultipartUpload": nil, // nobody waits for it
	}
	for _, right := range granted {
		t.Run(right[1], func(t *testing.T) {
			less := regexp.MustCompile(`"`+right[1]+`"(, )?`).ReplaceAllString(policy, "")
			less = strings.NewReplacer(", ]", "]", `"Action": []`, `"Action": ["s3:GetBucketLocation"]`).Replace(less)
			failed := use(t, open(t, server.Granted(t, less)))
			for _, what := range fails[right[1]] {
				var refused *blobs.RefusedError
				if err := failed[what]; !errors.As(err, &refused) || !strings.Contains(err.Error(), right[1]) {
					t.Errorf("%s: %v, want a refusal that names the right", what, err)
				}
			}
			if left := server.Uploads(t); right[1] == "s3:AbortMultipartUpload" && len(left) != 1 {
				t.Errorf("of what broke off stay %v", left)
			}
		})
	}
}
