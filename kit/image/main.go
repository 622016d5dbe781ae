// Command image puts a built Muster into an image, as an OCI layout in a directory, without
// a daemon and without a registry:
//
//	image PROGRAM CERTIFICATES DIRECTORY VERSION COMMIT ARCHITECTURE
//
// It has one layer on nothing: the program, the certificates of the authorities that this
// machine trusts, the account 65532, /tmp and the data directory. There is no shell and no
// PostgreSQL in it, and time zones are in the program. The same files give the same digest,
// which it prints: nothing in it is of today but SOURCE_DATE_EPOCH.
//
// # What may go wrong
//
//   - The machine has other certificates than the last one: another digest, and rightly so.
//   - The program is linked to a library: it would not start; scripts/program.sh minds that.
package main

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// account is nobody's but the image's.
const account = 65532

func main() {
	if len(os.Args) != 7 {
		fmt.Fprintln(os.Stderr, "usage: image PROGRAM CERTIFICATES DIRECTORY VERSION COMMIT ARCHITECTURE")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2], os.Args[3], os.Args[4], os.Args[5], os.Args[6]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func write(program, certificates, directory, version, commit, architecture string) error {
	seconds, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64)
	if err != nil {
		return fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	made := time.Unix(seconds, 0).UTC()
	files, err := packed(program, certificates, made)
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(files)), nil }, tarball.WithMediaType(types.OCILayer))
	if err != nil {
		return err
	}
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	if image, err = mutate.ConfigFile(image, config(version, commit, architecture, made)); err != nil {
		return err
	}
	image, err = mutate.Append(image, mutate.Addendum{Layer: layer, History: v1.History{Created: v1.Time{Time: made}, CreatedBy: "muster " + version}})
	if err != nil {
		return err
	}
	if err := os.RemoveAll(directory); err != nil {
		return err
	}
	at, err := layout.Write(directory, empty.Index)
	if err != nil {
		return err
	}
	err = at.AppendImage(image, layout.WithPlatform(v1.Platform{OS: "linux", Architecture: architecture}),
		layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": version}))
	if err != nil {
		return err
	}
	digest, err := image.Digest()
	fmt.Println(digest)
	return err
}

func config(version, commit, architecture string, made time.Time) *v1.ConfigFile {
	return &v1.ConfigFile{
		OS: "linux", Architecture: architecture, Created: v1.Time{Time: made},
		Config: v1.Config{
			Entrypoint: []string{"/usr/bin/muster"}, Cmd: []string{"serve"},
			User: fmt.Sprintf("%d:%d", account, account), WorkingDir: "/var/lib/muster",
			Env:          []string{"PATH=/usr/bin", "MUSTER_LISTEN=:8080", "MUSTER_DATA_DIR=/var/lib/muster"},
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			StopSignal:   "SIGTERM",
			Labels: map[string]string{"org.opencontainers.image.title": "Muster",
				"org.opencontainers.image.version": version, "org.opencontainers.image.revision": commit},
		},
	}
}

// packed is the layer.
func packed(program, certificates string, made time.Time) ([]byte, error) {
	binary, err := os.ReadFile(program)
	if err != nil {
		return nil, err
	}
	trusted, err := os.ReadFile(certificates)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, f := range []struct {
		name    string
		mode    int64
		owner   int
		content []byte
	}{
		{"etc/", 0o755, 0, nil},
		{"etc/group", 0o644, 0, fmt.Appendf(nil, "root:x:0:\nmuster:x:%d:\n", account)},
		{"etc/passwd", 0o644, 0, fmt.Appendf(nil, "root:x:0:0:root:/:/sbin/nologin\nmuster:x:%d:%d:Muster:/var/lib/muster:/sbin/nologin\n", account, account)},
		{"etc/ssl/", 0o755, 0, nil},
		{"etc/ssl/certs/", 0o755, 0, nil},
		{"etc/ssl/certs/ca-certificates.crt", 0o644, 0, trusted},
		{"tmp/", 0o1777, 0, nil},
		{"usr/", 0o755, 0, nil},
		{"usr/bin/", 0o755, 0, nil},
		{"usr/bin/muster", 0o755, 0, binary},
		{"var/", 0o755, 0, nil},
		{"var/lib/", 0o755, 0, nil},
		{"var/lib/muster/", 0o700, account, nil},
	} {
		header := &tar.Header{Name: f.name, Mode: f.mode, Uid: f.owner, Gid: f.owner, Size: int64(len(f.content)), ModTime: made, Typeflag: tar.TypeReg, Format: tar.FormatUSTAR}
		if f.content == nil {
			header.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(header); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.content); err != nil {
			return nil, err
		}
	}
	return out.Bytes(), w.Close()
}
