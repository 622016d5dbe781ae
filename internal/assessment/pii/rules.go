package pii

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"muster/internal/report/snapshot"
)

//go:embed rules.csv
var rulesCSV []byte

// version is raised with every change of a rule's meaning.
const version = "2026.11.1"

// Type is what a rule cares about in a column's data type.
type Type string

// Types of columns, as rules name them.
const (
	Text     Type = "text"
	Bytes    Type = "bytea"
	Integer  Type = "int"
	Numeric  Type = "numeric"
	Date     Type = "date"
	Inet     Type = "inet"
	Geometry Type = "geometry"
	Other    Type = "other"
)

// Candidate is a column to be classified. Values is nil where none were sampled;
// empty and NULL ones are left out of it.
type Candidate struct {
	Name   string
	Type   Type
	Values []string
}

// Rules is the validated rule set.
type Rules struct {
	rules   []rule
	version string
}

type rule struct {
	id, category, infoType, regulation string
	weight                             int
	tokens, excluded                   [][]string // each a run of words
	types                              []Type     // empty: any
	validator                          validator  // nil: values prove nothing
	strict                             bool       // values that never fit speak against the name
	minRatio                           float64
	byName, byBoth, byValue            string
}

// Load reads and validates the embedded rules, once a process. The error names every
// fault.
var Load = sync.OnceValues(func() (*Rules, error) { return load(rulesCSV) })

func load(text []byte) (*Rules, error) {
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("classification rules: %w", err)
	}
	sum := sha256.Sum256(text)
	r := &Rules{version: version + "-" + hex.EncodeToString(sum[:4])}
	var faults []error
	seen := make(map[string]bool)
	for _, row := range rows[1:] {
		one, err := readRule(row)
		if err == nil && seen[one.id] {
			err = errors.New("defined twice")
		}
		if err != nil {
			faults = append(faults, fmt.Errorf("classification rule %s: %w", row[0], err))
			continue
		}
		seen[one.id] = true
		r.rules = append(r.rules, one)
	}
	return r, errors.Join(faults...)
}

func readRule(row []string) (r rule, err error) {
	r = rule{id: row[0], category: row[1], infoType: row[2], regulation: row[4], byName: row[10], byBoth: row[11], byValue: row[12]}
	if r.weight, err = strconv.Atoi(row[3]); err != nil || r.weight < 0 || r.weight > 10 {
		return r, fmt.Errorf("weight %q", row[3])
	}
	for _, confidence := range []string{r.byName, r.byBoth, r.byValue} {
		if confidence != "" && confidenceRank(confidence) < 0 {
			return r, fmt.Errorf("unknown confidence %q", confidence)
		}
	}
	r.tokens, r.excluded = runs(row[5]), runs(row[6])
	if len(r.tokens) == 0 || r.byName == "" {
		return r, errors.New("no tokens, or no confidence for them")
	}
	if row[7] != "any" {
		for t := range strings.SplitSeq(row[7], "|") {
			r.types = append(r.types, Type(t))
		}
	}
	known, ok := validators()[row[8]]
	if row[8] != "" && !ok {
		return r, fmt.Errorf("unknown validator %q", row[8])
	}
	r.validator = known
	r.strict = slices.Contains([]string{"payment_card", "iban", "email", "ip_address"}, row[8])
	r.minRatio = 1
	if row[9] != "" {
		if r.minRatio, err = strconv.ParseFloat(row[9], 64); err != nil {
			return r, fmt.Errorf("minimum ratio %q", row[9])
		}
	}
	return r, nil
}

func runs(text string) (out [][]string) {
	for token := range strings.SplitSeq(text, "|") {
		if token != "" {
			out = append(out, strings.Split(token, "_"))
		}
	}
	return out
}

// Version says which rule set this is, as reports print it.
func (r *Rules) Version() string { return r.version }

// enough is how many values a strict rule needs to see before values that never
// fit outweigh a name.
const enough = 20

// Classify returns what a column holds and how sure that is; ok is false where
// nothing matched. at
// is the moment of the look: a date of birth lies before it.
func (r *Rules) Classify(c Candidate, at time.Time) (best snapshot.ClassifiedColumn, ok bool) {
	words := split(c.Name)
	for _, one := range r.rules {
		m, matched := one.classify(c, words, at)
		if matched && (!ok || surer(m, best)) {
			best, ok = m, true
		}
	}
	return best, ok
}

func surer(a, b snapshot.ClassifiedColumn) bool {
	return cmp.Or(cmp.Compare(confidenceRank(a.Confidence), confidenceRank(b.Confidence)),
		cmp.Compare(a.Weight, b.Weight), strings.Compare(b.RuleID, a.RuleID)) > 0
}

func confidenceRank(confidence string) int {
	return slices.Index([]string{"", "Low", "Medium", "High", "Certain"}, confidence)
}

func (r rule) classify(c Candidate, words []string, at time.Time) (snapshot.ClassifiedColumn, bool) {
	if !r.fits(c.Type) || containsAny(words, r.excluded) {
		return snapshot.ClassifiedColumn{}, false
	}
	m := snapshot.ClassifiedColumn{Name: c.Name, RuleID: r.id, Category: r.category, InfoType: r.infoType, Regulation: r.regulation, Weight: r.weight}
	named := containsAny(words, r.tokens)
	if named {
		m.Confidence = r.byName
	}
	if r.validator != nil && len(c.Values) > 0 {
		ratio := r.validator(c.Values, named, at)
		switch {
		case ratio >= r.minRatio && named:
			m.Confidence, m.MatchedRatio = r.byBoth, &ratio
		case ratio >= r.minRatio:
			m.Confidence, m.MatchedRatio = r.byValue, &ratio
		case named && r.strict && ratio == 0 && len(c.Values) >= enough:
			m.Confidence, m.MatchedRatio = "Low", &ratio
		case named:
			m.MatchedRatio = &ratio
		}
	}
	return m, m.Confidence != ""
}

func (r rule) fits(t Type) bool {
	if len(r.types) == 0 || slices.Contains(r.types, t) {
		return true
	}
	return t == Integer && slices.Contains(r.types, Numeric)
}

// split cuts a name into lower-case words at anything that is no letter or
// digit and where camelCase changes.
func split(name string) []string {
	var words []string
	var word []rune
	flush := func() {
		if len(word) > 0 {
			words = append(words, strings.ToLower(string(word)))
			word = nil
		}
	}
	runes := []rune(name)
	for i, c := range runes {
		switch {
		case !unicode.IsLetter(c) && !unicode.IsDigit(c):
			flush()
			continue
		case unicode.IsUpper(c) && i > 0 && !unicode.IsUpper(runes[i-1]),
			unicode.IsUpper(c) && i > 0 && i+1 < len(runes) && unicode.IsLower(runes[i+1]):
			flush()
		}
		word = append(word, c)
	}
	flush()
	return words
}

// containsAny says whether words hold one of the runs, word by word. A word
// may carry a plural s or a trailing number: "emails", "phone2".
func containsAny(words []string, runs [][]string) bool {
	for _, run := range runs {
		for i := 0; i+len(run) <= len(words); i++ {
			if slices.EqualFunc(words[i:i+len(run)], run, sameWord) {
				return true
			}
		}
		// "email" written in one word stands for "e_mail" too.
		if len(run) > 1 && slices.ContainsFunc(words, func(w string) bool { return sameWord(w, strings.Join(run, "")) }) {
			return true
		}
	}
	return false
}

func sameWord(word, token string) bool {
	if word == token {
		return true
	}
	word = strings.TrimRight(word, "0123456789")
	return word == token || word == token+"s"
}
