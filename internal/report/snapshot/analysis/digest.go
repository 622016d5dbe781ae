package analysis

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"

	"github.com/google/uuid"

	"muster/internal/report/snapshot"
)

// FindingsDigest is a SHA-256, in hex, over a document's results: its findings, open and
// accepted, the checks that could not run, the vulnerabilities of its servers and whether their
// support has ended. If two documents of one kind and scope have the same digest, the second
// requires nothing that the first did not.
func FindingsDigest(doc snapshot.Document) string {
	type server struct {
		ID      uuid.UUID
		Reached bool
		Ended   bool
		Blind   []string // checks, with their databases
		CVEs    []string
	}
	var found struct {
		Open, Accepted []snapshot.FindingKey
		Servers        []server
	}
	found.Open, found.Accepted = Keys(doc)
	for i := range doc.Instances {
		in := &doc.Instances[i]
		s := server{ID: in.ID, Reached: reached(in)}
		_, s.Ended = Ended(doc, in)
		for _, r := range Results(doc, in) {
			if r.Status == snapshot.StatusNotAssessed {
				s.Blind = append(s.Blind, r.CheckID+" "+r.Database)
			}
		}
		for _, c := range in.CVEs {
			s.CVEs = append(s.CVEs, c.ID+" "+c.Applies)
		}
		slices.Sort(s.Blind)
		slices.Sort(s.CVEs)
		found.Servers = append(found.Servers, s)
	}
	slices.SortFunc(found.Servers, func(a, b server) int { return bytes.Compare(a.ID[:], b.ID[:]) })
	text, _ := json.Marshal(found) // strings, ids and booleans: there is no error
	digest := sha256.Sum256(text)
	return hex.EncodeToString(digest[:])
}
