package day

import (
	"encoding/json"
	"fmt"
)

// File is digest.json, and what the preview answers.
type File struct {
	Schema  int    `json:"schema"`
	Page    Page   `json:"page"`    // in words, as the PDF and the mail print it
	Figures Digest `json:"figures"` // that the words are made of
}

// FileOf is the file of a digest.
func FileOf(d Digest) File { return File{Schema: 1, Page: PageOf(d), Figures: d} }

// ReadFile reads digest.json.
func ReadFile(text []byte) (f File, err error) {
	if err := json.Unmarshal(text, &f); err != nil {
		return File{}, fmt.Errorf("read a digest: %w", err)
	}
	return f, nil
}
