//go:build ignore

// Pack compresses openapi.yaml for the program, which has it once: half a megabyte less.
package main

import (
	"bytes"
	"compress/gzip"
	"log"
	"os"
)

func main() {
	text, err := os.ReadFile("openapi.yaml")
	if err != nil {
		log.Fatal(err)
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		log.Fatal(err)
	}
	if _, err := w.Write(text); err != nil {
		log.Fatal(err)
	}
	if err := w.Close(); err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile("openapi.yaml.gz", packed.Bytes(), 0o644); err != nil {
		log.Fatal(err)
	}
}
