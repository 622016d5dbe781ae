package s3test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/aws/aws-sdk-go-v2/service/sts"
)

// SetCredentials puts the credentials where AWS' library looks for them: into the
// environment. Use it in TestMain, before any test runs.
func SetCredentials() error {
	dir, err := os.MkdirTemp("", "muster-s3test-")
	if err != nil {
		return err
	}
	profiles.path = filepath.Join(dir, "credentials")
	for _, name := range []string{"AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"} {
		err = errors.Join(err, os.Unsetenv(name)) // the developer's own
	}
	return errors.Join(err, os.Setenv("AWS_ACCESS_KEY_ID", Key), os.Setenv("AWS_SECRET_ACCESS_KEY", secret),
		os.Setenv("AWS_EC2_METADATA_DISABLED", "true"),
		os.Setenv("AWS_SHARED_CREDENTIALS_FILE", profiles.path), os.Setenv("AWS_CONFIG_FILE", filepath.Join(dir, "config")))
}

// RemoveCredentials removes what SetCredentials has left on the disk.
func RemoveCredentials() { _ = os.RemoveAll(filepath.Dir(profiles.path)) }

// profiles are the credentials of those who are not the store's owner, in the file that
// AWS' library looks for them in.
var profiles struct {
	mu   sync.Mutex
	path string
	text string
	n    int
}

// profile keeps credentials and returns the profile's name.
func profile(t testing.TB, id, secret, token string) string {
	t.Helper()
	profiles.mu.Lock()
	defer profiles.mu.Unlock()
	profiles.n++
	name := fmt.Sprint("test", profiles.n)
	profiles.text += fmt.Sprintf("[%s]\naws_access_key_id = %s\naws_secret_access_key = %s\n", name, id, secret)
	if token != "" {
		profiles.text += "aws_session_token = " + token + "\n"
	}
	aside := profiles.path + ".new" // others read it meanwhile
	if err := errors.Join(os.WriteFile(aside, []byte(profiles.text), 0o600), os.Rename(aside, profiles.path)); err != nil {
		t.Fatal(err)
	}
	return name
}

// As is the URL of the bucket for a client with these keys.
func (s *Server) As(t testing.TB, id, secret string) string {
	t.Helper()
	return s.URL + "&profile=" + profile(t, id, secret, "")
}

// Granted is the URL of the bucket for a client with the rights of a policy, which only MinIO
// enforces.
func (s *Server) Granted(t testing.TB, policy string) string {
	t.Helper()
	who := sts.New(sts.Options{Region: region, BaseEndpoint: aws.String("http://" + s.Addr), Credentials: owner})
	assumed, err := who.AssumeRole(t.Context(), &sts.AssumeRoleInput{
		RoleArn: aws.String("arn:aws:iam::000000000000:role/muster"), RoleSessionName: aws.String("muster"), Policy: aws.String(policy),
	})
	if err != nil {
		t.Fatal(err)
	}
	c := assumed.Credentials
	return s.URL + "&profile=" + profile(t, *c.AccessKeyId, *c.SecretAccessKey, *c.SessionToken)
}

// owner is whose the store is.
var owner = aws.CredentialsProviderFunc(func(context.Context) (aws.Credentials, error) {
	return aws.Credentials{AccessKeyID: Key, SecretAccessKey: secret}, nil
})

func (s *Server) client() *s3.Client {
	return s3.New(s3.Options{Region: region, BaseEndpoint: aws.String("http://" + s.Addr), UsePathStyle: true, Credentials: owner})
}

func (s *Server) makeBucket(t testing.TB, bucket string) {
	t.Helper()
	_, err := s.client().CreateBucket(t.Context(), &s3.CreateBucketInput{
		Bucket: aws.String(bucket), CreateBucketConfiguration: &types.CreateBucketConfiguration{LocationConstraint: region},
	})
	if err != nil {
		t.Fatal(err)
	}
}

// Bucket makes another bucket and returns its URL.
func (s *Server) Bucket(t testing.TB, name string) string {
	t.Helper()
	s.makeBucket(t, name)
	return address(name, s.Addr)
}

// Missing is the URL of a bucket that does not exist.
func (s *Server) Missing() string { return address("nothing-here", s.Addr) }

// Names are the names of the bucket's files.
func (s *Server) Names(t testing.TB) (names []string) {
	t.Helper()
	pages := s3.NewListObjectsV2Paginator(s.client(), &s3.ListObjectsV2Input{Bucket: aws.String(bucket)})
	for pages.HasMorePages() {
		page, err := pages.NextPage(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range page.Contents {
			names = append(names, *object.Key)
		}
	}
	return names
}

// Uploads are the names of files of which the store has parts and no end.
func (s *Server) Uploads(t testing.TB) (names []string) {
	t.Helper()
	page, err := s.client().ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: aws.String(bucket)})
	if err != nil {
		t.Fatal(err)
	}
	for _, upload := range page.Uploads {
		names = append(names, *upload.Key)
	}
	return names
}
