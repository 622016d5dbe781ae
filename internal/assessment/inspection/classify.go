package inspection

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"muster/internal/assessment"
	"muster/internal/assessment/pii"
	"muster/internal/report/snapshot"
)

// Limits of a look at values: reading them must cost the server next to nothing, however large
// its tables are.
const (
	SampleRows    = 200
	SampleLength  = 256 // characters of a value
	SampleTimeout = 5 * time.Second
	LargeTable    = 20_000 // rows from which on a sample of blocks is cheaper than luck
	BlockRows     = 4_000  // rows in the blocks that the sample is drawn from: some twenty blocks of usual rows
)

// Classifying looks for personal and secret data in one database. The values are discarded
// here: the result contains none.
type Classifying struct {
	Rules *pii.Rules
	Run   snapshot.Classification
}

// NewClassifying begins a look; on is false if it is switched off, and there is nothing to ask.
func NewClassifying(rules *pii.Rules, mode string, at time.Time) (c *Classifying, on bool) {
	c = &Classifying{Rules: rules, Run: snapshot.Classification{
		StartedAt: at.UTC(), Mode: mode, RulesVersion: rules.Version(),
		Tables: []snapshot.ClassifiedTable{}, FailedTables: []snapshot.FailedTable{},
	}}
	if mode == assessment.ClassifyOff {
		c.Run.Status, c.Run.Reason = snapshot.ClassificationOff, "Classification is switched off for this instance."
		return c, false
	}
	return c, true
}

// Fail says why nothing was classified: because the look is over, or for another reason.
func (c *Classifying) Fail(ctx context.Context, reason string) {
	if notRead, over := Over(ctx); over {
		reason = notRead
	}
	c.Run.Status, c.Run.Reason = snapshot.ClassificationFailed, reason
}

// Locked is why a table was left alone that another session holds. It is looked at again
// before long.
func (c *Classifying) Locked() string {
	c.Run.Again = true
	return "Another session has locked it."
}

// Complete says what came of it all.
func (c *Classifying) Complete() {
	c.Run.Status = snapshot.ClassificationCompleted
	if n := len(c.Run.FailedTables); n > 0 {
		c.Run.Status = snapshot.ClassificationPartial
		c.Run.Reason = fmt.Sprintf("%d of %d tables could not be sampled; they were classified by their column names only.", n, c.Run.TablesSeen)
	}
	unread := 0
	for _, u := range c.Run.UnreadColumns {
		unread += len(u.Columns)
	}
	if unread > 0 {
		c.Run.Status = snapshot.ClassificationPartial
		c.Run.Reason = strings.TrimSpace(fmt.Sprintf("%s %d of %d columns could not be read; they were classified by their names only.",
			c.Run.Reason, unread, c.Run.ColumnsSeen))
	}
	if c.Run.Mode == assessment.ClassifyValues {
		c.Run.SampleRows = SampleRows
	}
}

// Column is one with what rules need of it.
type Column struct {
	Name, Shown string // the type as it is declared
	Type        pii.Type
	Unread      string                     // why its values are not read, though a rule might tell them; empty: they are
	Label       *snapshot.ClassifiedColumn // what its owner says of it; nil: nothing
}

// Table classifies one. sample reads some values of each column, by its name, or says why
// it could not; an empty table has an empty, not a nil, sample. sensitive is false where no
// column is.
func (c *Classifying) Table(ctx context.Context, found *snapshot.ClassifiedTable, columns []Column, sample func() (values map[string][]string, refusal string)) (sensitive bool) {
	c.Run.TablesSeen++
	c.Run.ColumnsSeen += len(columns)
	var samples map[string][]string
	if c.Run.Mode == assessment.ClassifyValues {
		var refusal string
		if samples, refusal = sample(); refusal != "" {
			if notRead, over := Over(ctx); over {
				refusal = notRead
			}
			c.Run.FailedTables = append(c.Run.FailedTables, snapshot.FailedTable{Schema: found.Schema, Name: found.Name, Reason: refusal})
		} else {
			c.Run.TablesSampled++
		}
	}
	if c.Run.Mode == assessment.ClassifyNames || samples != nil {
		c.Run.TablesClassified++
		c.Run.ColumnsClassified += len(columns)
	}
	if samples != nil {
		for _, u := range unread(found, columns) {
			c.Run.ColumnsClassified -= len(u.Columns)
			c.Run.UnreadColumns = append(c.Run.UnreadColumns, u)
		}
	}
	for _, column := range columns {
		match, ok := c.Rules.Classify(pii.Candidate{Name: column.Name, Type: column.Type, Values: samples[column.Name]}, c.Run.StartedAt)
		if column.Label != nil {
			ratio := match.MatchedRatio
			match, ok = *column.Label, true
			match.MatchedRatio = ratio
		}
		if ok {
			match.DataType = column.Shown
			found.Columns = append(found.Columns, match)
		}
	}
	return len(found.Columns) > 0
}

// unread are the columns of a table that was sampled without them, by why.
func unread(t *snapshot.ClassifiedTable, columns []Column) (out []snapshot.UnreadColumns) {
	for _, column := range columns {
		if column.Unread == "" {
			continue
		}
		i := slices.IndexFunc(out, func(u snapshot.UnreadColumns) bool { return u.Reason == column.Unread })
		if i < 0 {
			i = len(out)
			out = append(out, snapshot.UnreadColumns{Schema: t.Schema, Table: t.Name, Reason: column.Unread})
		}
		out[i].Columns = append(out[i].Columns, column.Name)
	}
	return out
}

// ByColumn are the values of a sample by the names of its columns; empty ones say nothing.
func ByColumn(names []string, rows [][]string) map[string][]string {
	samples := make(map[string][]string)
	for _, row := range rows {
		for i, value := range row {
			if value != "" {
				samples[names[i]] = append(samples[names[i]], value)
			}
		}
	}
	return samples
}

// Percent is the share of a large table's blocks that a sample is drawn from.
func Percent(rows int64) float64 { return min(100, 100*BlockRows/float64(rows)) }
