package oracle

import (
	"context"
	_ "embed" // the query
	"maps"
	"strings"

	"muster/domain/fleet"
	"muster/internal/report/snapshot"
	"muster/internal/servers"
)

//go:embed sql/granted.sql
var grantedQuery string

// granted is what is granted to our account, as far as that was asked for.
type granted struct {
	views map[string]bool // by the names of SYS; nil: unknown
	asks  bool            // a view did not exist for us since
}

// ask reads what is granted, if a view did not exist for us. What cannot be read stays unknown.
func (g *granted) ask(ctx context.Context, s servers.Session) {
	if !g.asks {
		return
	}
	*g = granted{}
	rows, err := servers.Query(ctx, s, 1, grantedQuery)
	if err != nil {
		return
	}
	g.views = make(map[string]bool, len(rows))
	for _, row := range rows {
		g.views[row[0]] = true
	}
}

// askGranted asks what is granted, if that is to be known, and forgets what is not lacking then.
func (r *reader) askGranted(ctx context.Context, s servers.Session) {
	r.granted.ask(ctx, s)
	maps.DeleteFunc(r.lacking, func(_ string, g snapshot.MissingGrant) bool { return r.granted.views[base(g.Object)] })
}

// judge says what a refusal of a view means: nil, a missing grant, which is no error. If the view is granted, the driver
// and this server do not understand each other: its alert log has "Bad TTC Packet Detected".
func (g *granted) judge(view string, err error) error {
	refusal, _ := err.(*servers.Refusal) //nolint:errorlint // a session's errors are not wrapped
	if refusal == nil || refusal.Code != "ORA-00942" {
		return nil
	}
	g.asks = g.asks || g.views == nil || g.views[base(view)] // or it was taken from us since
	if g.views[base(view)] {
		return &servers.Refusal{Engine: fleet.Oracle, Code: refusal.Code, Reason: servers.Failed}
	}
	return nil
}

// base is what a view is a public synonym of.
func base(view string) string { return strings.Replace(view, "V$", "V_$", 1) }
