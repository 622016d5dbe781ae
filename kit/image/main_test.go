package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// written is an image of a small program.
func written(t *testing.T) (directory, digest string) {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"program", "certificates"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	b := build{
		program: filepath.Join(dir, "program"), certificates: filepath.Join(dir, "certificates"),
		version: "v1.0.0", commit: "abc", architecture: "amd64",
	}
	directory = filepath.Join(dir, "image")
	digest, err := b.write(directory, "1767225600")
	if err != nil {
		t.Fatal(err)
	}
	return directory, digest
}

// TestTheImageIsAsTheSpecificationHasIt: what an engine must have, by the words of the
// specification, and every digest and size that one document says of another.
func TestTheImageIsAsTheSpecificationHasIt(t *testing.T) {
	t.Parallel()
	directory, digest := written(t)
	if _, again := written(t); again != digest {
		t.Errorf("the same files give %s and %s", digest, again)
	}
	blob := func(d descriptor, into any) []byte {
		t.Helper()
		content, err := os.ReadFile(filepath.Join(directory, "blobs", "sha256", d.Digest[len("sha256:"):]))
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(content); "sha256:"+hex.EncodeToString(sum[:]) != d.Digest || int64(len(content)) != d.Size {
			t.Errorf("%s of %d bytes is described as %+v", hex.EncodeToString(sum[:]), len(content), d)
		}
		if into != nil {
			if err := json.Unmarshal(content, into); err != nil {
				t.Fatal(err)
			}
		}
		return content
	}
	var list index
	var one manifest
	var config struct {
		Architecture, OS string
		RootFS           struct {
			Type    string
			DiffIDs []string `json:"diff_ids"`
		}
	}
	text, err := os.ReadFile(filepath.Join(directory, "index.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &list); err != nil || len(list.Manifests) != 1 || list.Manifests[0].Digest != digest {
		t.Fatalf("the index is %s, %v, and the digest %s", text, err, digest)
	}
	blob(list.Manifests[0], &one)
	blob(one.Config, &config)
	z, err := gzip.NewReader(bytes.NewReader(blob(one.Layers[0], nil)))
	if err != nil {
		t.Fatal(err)
	}
	unpacked := sha256.New()
	if _, err := io.Copy(unpacked, z); err != nil { //nolint:gosec // our own
		t.Fatal(err)
	}
	if config.Architecture != "amd64" || config.OS != "linux" || config.RootFS.Type != "layers" ||
		len(config.RootFS.DiffIDs) != 1 || config.RootFS.DiffIDs[0] != "sha256:"+hex.EncodeToString(unpacked.Sum(nil)) {
		t.Errorf("the configuration is %+v", config)
	}
}

// TestUmociUnpacksTheImage, as an engine does before it starts one.
func TestUmociUnpacksTheImage(t *testing.T) {
	t.Parallel()
	umoci, err := exec.LookPath("umoci")
	if err != nil {
		t.Skip("umoci is missing: install it")
	}
	directory, _ := written(t)
	bundle := filepath.Join(t.TempDir(), "bundle")
	if said, err := exec.CommandContext(t.Context(), umoci, "unpack", "--rootless", "--image", directory+":v1.0.0", bundle).CombinedOutput(); err != nil {
		t.Fatalf("umoci: %v: %s", err, said)
	}
	var to struct {
		Process struct {
			Args []string
			User struct{ UID int }
		}
	}
	text, err := os.ReadFile(filepath.Join(bundle, "config.json"))
	if err == nil {
		err = json.Unmarshal(text, &to)
	}
	if err != nil || len(to.Process.Args) != 2 || to.Process.Args[1] != "serve" || to.Process.User.UID != account {
		t.Errorf("it would start %+v, %v", to, err)
	}
	if program, err := os.ReadFile(filepath.Join(bundle, "rootfs", "usr/bin/muster")); err != nil || string(program) != "program" {
		t.Errorf("the program in it is %q, %v", program, err)
	}
}
