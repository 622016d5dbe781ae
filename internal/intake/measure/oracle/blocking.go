package oracle

import (
	"context"
	_ "embed" // the queries
	"strconv"
	"strings"
	"time"

	"muster/internal/engine/oracle"
	"muster/internal/intake/measure"
	"muster/internal/intake/sqltext"
	"muster/internal/measurements/blocking"
	"muster/internal/servers"
)

//go:embed sql/blocking.sql
var blockingQuery string

//go:embed sql/cluster_blocking.sql
var clusterBlockingQuery string

// Blocking reads who waits for whom.
func (r *reader) Blocking(ctx context.Context, l *measure.Line, at time.Time, texts bool) (*blocking.Look, error) {
	look := &blocking.Look{At: at}
	query := strings.NewReplacer("@application@", servers.ApplicationName, "@most@", strconv.Itoa(2*blocking.MaxNodes)).Replace(r.in(blockingQuery, clusterBlockingQuery))
	rows, err := servers.Query(ctx, l, 22, query)
	if err != nil {
		return nil, err
	}
	ids := make(map[place]string, len(rows))
	for _, row := range rows {
		ids[place{row[0], row[2]}] = row[0] + "," + row[1] + "," + row[2]
	}
	for _, row := range rows {
		n, err := r.blockingNode(row, at, ids)
		if err != nil {
			return nil, err
		}
		look.Nodes = append(look.Nodes, n)
		all, err := strconv.Atoi(row[21])
		if err != nil {
			return nil, measure.ErrNonsense
		}
		look.Omitted = max(all-len(rows), 0)
	}
	if !texts {
		return look, nil
	}
	return look, r.addTexts(ctx, l, look.Nodes)
}

// place is where a session is: its number and its instance.
type place struct{ sid, instance string }

// blockingNode is a session as a row has it. ids are those of all rows.
func (r *reader) blockingNode(row []string, at time.Time, ids map[place]string) (blocking.Node, error) {
	container, err := strconv.ParseUint(row[7], 10, 32)
	if err != nil || row[0] == "" || row[1] == "" || row[2] == "" {
		return blocking.Node{}, measure.ErrNonsense
	}
	n := blocking.Node{
		Session: ids[place{row[0], row[2]}], Kind: blocking.System, User: row[4], Application: row[5], Client: row[6], State: strings.ToLower(row[9]),
		Idle: row[9] == "INACTIVE" && row[10] == "1",
	}
	if row[8] == "USER" {
		n.Kind = blocking.Client
	}
	if began, err := time.Parse(time.DateTime, row[3]); err == nil {
		n.Began = &began
	}
	for _, d := range r.databases {
		if d.ID == uint32(container) {
			n.Database = d.Name
		}
	}
	if seconds, err := strconv.ParseInt(row[11], 10, 64); err == nil {
		since := at.Add(-time.Duration(max(seconds, 0)) * time.Second)
		n.Changed = &since
	}
	if _, err := sqlNumber(row[12]); err == nil {
		n.StatementID = row[12]
	}
	if row[13] == "" {
		return n, nil
	}
	waited, err := strconv.ParseFloat(row[17], 64)
	if err != nil {
		return blocking.Node{}, measure.ErrNonsense
	}
	since := at.Add(-time.Duration(max(waited, 0)) * time.Microsecond)
	n.Waits, n.Lock, n.Advisory = &since, row[18], row[18] == "enq: UL - contention"
	holder := ids[place{row[13], row[14]}]
	if holder == "" { // we may not see it, and perhaps who holds that one up
		holder = ids[place{row[15], row[16]}]
	}
	n.For = []string{holder}
	if strings.HasPrefix(n.Lock, "enq: ") {
		n.Mode = lockMode(row[19])
	}
	if object, err := strconv.ParseInt(row[20], 10, 64); err == nil && object > 0 {
		n.Object = "object " + row[20]
	}
	return n, nil
}

// lockMode is the mode in which an enqueue is wanted (Database Reference, V$LOCK: LMODE), from the
// lower bytes of its first parameter.
func lockMode(p1 string) string {
	const modes = 0xffff
	n, err := strconv.ParseInt(p1, 10, 64)
	if err != nil {
		return ""
	}
	return map[int64]string{1: "null", 2: "row-S", 3: "row-X", 4: "share", 5: "S/row-X", 6: "exclusive"}[n&modes]
}

// addTexts puts in the texts of the statements. Without the grant for them there are none.
func (r *reader) addTexts(ctx context.Context, l *measure.Line, nodes []blocking.Node) error {
	var ids []string
	for _, n := range nodes {
		if n.StatementID != "" {
			ids = append(ids, n.StatementID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	texts := map[string]string{}
	for _, statement := range naming(2, r.in(textsQuery, clusterTextsQuery), ids) {
		rows, err := servers.Ask(ctx, l, statement)
		if servers.ReasonOf(err) == servers.Denied {
			return nil
		}
		if err != nil {
			return err
		}
		for _, row := range rows {
			texts[row[0]] = sqltext.Normalize(oracle.Engine.Dialect, row[1])
		}
	}
	for i := range nodes {
		nodes[i].Statement = texts[nodes[i].StatementID]
	}
	return nil
}
