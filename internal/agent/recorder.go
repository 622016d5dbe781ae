package agent

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"muster/internal/servers"
)

// QueryReport is what a query of ours was answered with, in numbers.
type QueryReport struct {
	Query   string         `json:"query"` // its first line, which is ours
	Times   int            `json:"times"`
	Ms      int64          `json:"ms"` // the longest
	Rows    int            `json:"rows"`
	Refusal string         `json:"refusal"` // the number that the server refuses it with
	Columns []ColumnReport `json:"columns"`
}

// ColumnReport is what values of a column look like.
type ColumnReport struct {
	Nulls    int `json:"nulls"`
	Integers int `json:"integers"`
	Decimals int `json:"decimals"`
	Texts    int `json:"texts"`
	Longest  int `json:"longest"` // in bytes
	// Form is that of all texts if they are of digits and signs, as times are: each digit is a 9. Of texts with letters,
	// or of several forms, it says nothing.
	Form string `json:"form"`
}

// recorder counts what goes over sessions, and keeps nothing of it.
type recorder struct {
	mu      sync.Mutex
	order   []string
	queries map[string]*QueryReport
}

// session is a session whose calls are counted.
func (r *recorder) session(s servers.Session) servers.Session { return &counted{s, r} }

// report is what was counted, in the order of the first times.
func (r *recorder) report() []QueryReport {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]QueryReport, 0, len(r.order))
	for _, line := range r.order {
		out = append(out, *r.queries[line])
	}
	return out
}

// counted is a session whose answers are counted.
type counted struct {
	servers.Session
	by *recorder
}

// Uncounted is the session itself.
func (c *counted) Uncounted() servers.Session { return c.Session }

// Each counts an answer on its way.
func (c *counted) Each(ctx context.Context, statement servers.Statement, take func(row [][]byte) error) error {
	shape, rows, began := make([]ColumnReport, statement.Columns), 0, time.Now()
	err := c.Session.Each(ctx, statement, func(row [][]byte) error {
		rows++
		for i, value := range row {
			shape[i].add(value)
		}
		return take(row)
	})
	c.by.count(firstLine(statement.Text), shape, rows, time.Since(began), err)
	return err
}

// firstLine is the first line of a query's file: a comment of ours. Of any other query, only
// its use is reported.
func firstLine(statement string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(statement), "\n")
	if !strings.HasPrefix(line, "--") {
		return "a query of the catalogue"
	}
	return line
}

func (r *recorder) count(line string, shape []ColumnReport, rows int, took time.Duration, err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.queries == nil {
		r.queries = map[string]*QueryReport{}
	}
	q, known := r.queries[line]
	if !known {
		q = &QueryReport{Query: line, Columns: []ColumnReport{}}
		r.queries[line], r.order = q, append(r.order, line)
	}
	q.Times, q.Rows, q.Ms = q.Times+1, q.Rows+rows, max(q.Ms, took.Milliseconds())
	if refusal, ok := errors.AsType[*servers.Refusal](err); ok {
		q.Refusal = refusal.Code
	} else if err != nil && q.Refusal == "" {
		q.Refusal = "broken off"
	}
	for len(q.Columns) < len(shape) {
		q.Columns = append(q.Columns, ColumnReport{})
	}
	for i, column := range shape {
		q.Columns[i].merge(column)
	}
}

func (c *ColumnReport) add(value []byte) {
	c.Longest = max(c.Longest, len(value))
	switch {
	case value == nil:
		c.Nulls++
	case isInteger(value):
		c.Integers++
	case isDecimal(value):
		c.Decimals++
	default:
		c.merge(ColumnReport{Texts: 1, Form: formOf(value)})
	}
}

// formOf is how a text is written that has no letters; "": it has some, or is long.
func formOf(value []byte) string {
	const most, signs = 40, " -+/:.,"
	form := make([]byte, len(value))
	for i, b := range value {
		switch {
		case b >= '0' && b <= '9':
			b = '9'
		case strings.IndexByte(signs, b) < 0:
			return ""
		}
		form[i] = b
	}
	if len(form) > most {
		return ""
	}
	return string(form)
}

func (c *ColumnReport) merge(other ColumnReport) {
	switch {
	case c.Texts == 0:
		c.Form = other.Form
	case other.Texts > 0 && c.Form != other.Form:
		c.Form = ""
	}
	c.Nulls, c.Integers, c.Decimals, c.Texts = c.Nulls+other.Nulls, c.Integers+other.Integers, c.Decimals+other.Decimals, c.Texts+other.Texts
	c.Longest = max(c.Longest, other.Longest)
}

func isInteger(value []byte) bool {
	digits := strings.TrimPrefix(string(value), "-")
	return digits != "" && strings.Trim(digits, "0123456789") == "" // of any size: a signature of Oracle has 64 bits without a sign
}

func isDecimal(value []byte) bool {
	_, err := strconv.ParseFloat(string(value), 64)
	return err == nil
}
