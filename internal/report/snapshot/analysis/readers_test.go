package analysis_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"muster/internal/report/snapshot"
	"muster/internal/report/snapshot/analysis"
)

// The readers of a table come from an assessment, or from a feed with the accounts that it
// names; without either they are unknown, and not empty.
func TestReadersOfATableBySource(t *testing.T) {
	t.Parallel()
	in := snapshot.Instance{Engine: "oracle", Assessment: &snapshot.Assessment{Sent: true, Roles: []snapshot.DatabaseRole{
		{Name: "SYS", Login: true, Superuser: true}, {Name: "ANA", Login: true, MemberOf: []string{"HR_READ"}},
		{Name: "BOB", Login: true, MemberOf: []string{"BOB → CLERKS → HR_READ", "DBA"}}, {Name: "EVE", Login: true, MemberOf: []string{"OTHER"}}, {Name: "APP", Login: true, Superuser: true},
	}}}
	collected := snapshot.Instance{Engine: "postgresql", Collected: true}
	for name, test := range map[string]struct {
		in      snapshot.Instance
		table   snapshot.ClassifiedTable
		want    []string
		unknown string
	}{
		"found": {collected, snapshot.ClassifiedTable{ReaderPaths: []snapshot.Reader{
			{Role: "group", Path: "group → SELECT"}, {Role: "postgres", Login: true, Path: "postgres → superuser"},
			{Role: "backup", Login: true, Path: "backup → pg_read_all_data → every table"}, {Role: "zoe", Login: true, Path: "zoe → SELECT"}, {Role: snapshot.Public, Path: "PUBLIC → SELECT"},
		}}, []string{"PUBLIC → SELECT", "zoe → SELECT", "backup → pg_read_all_data → every table", "postgres → superuser", "group → SELECT"}, ""},
		"without room":   {collected, snapshot.ClassifiedTable{ReadersUnlisted: 7}, nil, ""},
		"not looked at":  {collected, snapshot.ClassifiedTable{}, nil, "an older version classified it and did not look"},
		"not told":       {in, snapshot.ClassifiedTable{AccessUnknown: true}, nil, "the feed did not say"},
		"told":           {in, snapshot.ClassifiedTable{Readers: []string{"APP", "HR_READ"}}, []string{"ANA → HR_READ → SELECT", "BOB → CLERKS → HR_READ → SELECT", "SYS → superuser", "APP → SELECT", "HR_READ → SELECT"}, ""},
		"told of nobody": {in, snapshot.ClassifiedTable{Readers: []string{}}, []string{"APP → superuser", "SYS → superuser"}, ""},
		"told of public": {in, snapshot.ClassifiedTable{Readers: []string{"public"}}, []string{"public → SELECT", "APP → superuser", "SYS → superuser"}, ""},
	} {
		r := analysis.ReadersOf(&test.in, test.table)
		var got []string
		for _, reader := range r.Readers {
			got = append(got, reader.Path)
		}
		if diff := cmp.Diff(test.want, got); diff != "" || r.Unknown != test.unknown || r.Sent == test.in.Collected && r.Unknown == "" {
			t.Errorf("%s: %q, sent %t (-want +got):\n%s", name, r.Unknown, r.Sent, diff)
		}
	}
}
