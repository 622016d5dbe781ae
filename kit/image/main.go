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
// The form is the OCI image specification 1.1. A library wrote it once, with a configuration
// whose rootfs had no type: nothing of ours noticed, and every engine would have refused it.
// So the tests have umoci and skopeo judge it.
//
// # What may go wrong
//
//   - The machine has other certificates than the last one: another digest, and rightly so.
//   - The program is linked to a library: it would not start; scripts/program.sh minds that.
//   - It dies half way: the directory has no index.json, which is written last, and is no image.
package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// account is nobody's but the image's.
const account = 65532

func main() {
	if len(os.Args) != 7 {
		fmt.Fprintln(os.Stderr, "usage: image PROGRAM CERTIFICATES DIRECTORY VERSION COMMIT ARCHITECTURE")
		os.Exit(2)
	}
	b := build{program: os.Args[1], certificates: os.Args[2], version: os.Args[4], commit: os.Args[5], architecture: os.Args[6]}
	digest, err := b.write(os.Args[3], os.Getenv("SOURCE_DATE_EPOCH"))
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(digest)
}

// build is what an image is made of.
type build struct {
	program, certificates, version, commit, architecture string
}

// write makes the layout and returns the manifest's digest.
func (b build) write(directory, epoch string) (digest string, err error) {
	seconds, err := strconv.ParseInt(epoch, 10, 64)
	if err != nil {
		return "", fmt.Errorf("SOURCE_DATE_EPOCH: %w", err)
	}
	made := time.Unix(seconds, 0).UTC()
	files, err := b.packed(made)
	if err != nil {
		return "", err
	}
	var layer bytes.Buffer
	z, err := gzip.NewWriterLevel(&layer, gzip.BestSpeed)
	if err != nil {
		return "", err
	}
	if _, err := z.Write(files); err != nil {
		return "", err
	}
	if err := z.Close(); err != nil {
		return "", err
	}
	if err := os.RemoveAll(directory); err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Join(directory, "blobs", "sha256"), 0o755); err != nil {
		return "", err
	}
	put := func(mediaType string, content []byte) (d descriptor) {
		sum := sha256.Sum256(content)
		name := hex.EncodeToString(sum[:])
		if err == nil {
			err = os.WriteFile(filepath.Join(directory, "blobs", "sha256", name), content, 0o644) //nolint:gosec // for everybody to read
		}
		return descriptor{MediaType: mediaType, Digest: "sha256:" + name, Size: int64(len(content))}
	}
	unpacked := sha256.Sum256(files)
	wanted := manifest{
		Schema: 2, MediaType: manifestType,
		Config: put("application/vnd.oci.image.config.v1+json", encoded(b.config(made, "sha256:"+hex.EncodeToString(unpacked[:])))),
		Layers: []descriptor{put("application/vnd.oci.image.layer.v1.tar+gzip", layer.Bytes())},
	}
	entry := put(manifestType, encoded(wanted))
	if err != nil {
		return "", err
	}
	entry.Platform = &platform{Architecture: b.architecture, OS: "linux"}
	entry.Annotations = map[string]string{"org.opencontainers.image.ref.name": b.version}
	for _, file := range []struct {
		name    string
		content any
	}{
		{"oci-layout", map[string]string{"imageLayoutVersion": "1.0.0"}},
		{"index.json", index{Schema: 2, MediaType: "application/vnd.oci.image.index.v1+json", Manifests: []descriptor{entry}}},
	} {
		if err := os.WriteFile(filepath.Join(directory, file.name), encoded(file.content), 0o644); err != nil { //nolint:gosec // for everybody to read
			return "", err
		}
	}
	return entry.Digest, nil
}

// The documents of an image, by the names of the specification (image-spec 1.1: descriptor.md,
// manifest.md, image-index.md, config.md).
type (
	descriptor struct {
		MediaType   string            `json:"mediaType"`
		Digest      string            `json:"digest"`
		Size        int64             `json:"size"`
		Annotations map[string]string `json:"annotations,omitempty"`
		Platform    *platform         `json:"platform,omitempty"`
	}
	platform struct {
		Architecture string `json:"architecture"`
		OS           string `json:"os"`
	}
	manifest struct {
		Schema    int          `json:"schemaVersion"`
		MediaType string       `json:"mediaType"`
		Config    descriptor   `json:"config"`
		Layers    []descriptor `json:"layers"`
	}
	index struct {
		Schema    int          `json:"schemaVersion"`
		MediaType string       `json:"mediaType"`
		Manifests []descriptor `json:"manifests"`
	}
	configuration struct {
		Created time.Time `json:"created"`
		platform
		Config  execution `json:"config"`
		RootFS  rootFS    `json:"rootfs"`
		History []history `json:"history"`
	}
	execution struct {
		User         string              `json:"User"`
		ExposedPorts map[string]struct{} `json:"ExposedPorts"`
		Env          []string            `json:"Env"`
		Entrypoint   []string            `json:"Entrypoint"`
		Cmd          []string            `json:"Cmd"`
		WorkingDir   string              `json:"WorkingDir"`
		Labels       map[string]string   `json:"Labels"`
		StopSignal   string              `json:"StopSignal"`
	}
	rootFS struct {
		Type    string   `json:"type"` // MUST be layers
		DiffIDs []string `json:"diff_ids"`
	}
	history struct {
		Created   time.Time `json:"created"`
		CreatedBy string    `json:"created_by"`
	}
)

const manifestType = "application/vnd.oci.image.manifest.v1+json"

// encoded is a document of the image. None has a value that JSON lacks.
func encoded(document any) []byte {
	text, err := json.Marshal(document)
	if err != nil {
		panic(err)
	}
	return text
}

func (b build) config(made time.Time, layer string) configuration {
	return configuration{
		Created: made, platform: platform{Architecture: b.architecture, OS: "linux"},
		Config: execution{
			Entrypoint: []string{"/usr/bin/muster"}, Cmd: []string{"serve"},
			User: fmt.Sprintf("%d:%d", account, account), WorkingDir: "/var/lib/muster",
			Env:          []string{"PATH=/usr/bin", "MUSTER_LISTEN=:8080", "MUSTER_DATA_DIR=/var/lib/muster"},
			ExposedPorts: map[string]struct{}{"8080/tcp": {}},
			StopSignal:   "SIGTERM",
			Labels: map[string]string{
				"org.opencontainers.image.title":   "Muster",
				"org.opencontainers.image.version": b.version, "org.opencontainers.image.revision": b.commit,
			},
		},
		RootFS:  rootFS{Type: "layers", DiffIDs: []string{layer}},
		History: []history{{Created: made, CreatedBy: "muster " + b.version}},
	}
}

// packed is the layer.
func (b build) packed(made time.Time) ([]byte, error) {
	binary, err := os.ReadFile(b.program)
	if err != nil {
		return nil, err
	}
	trusted, err := os.ReadFile(b.certificates)
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
