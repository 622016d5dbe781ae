package accounts_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"

	"muster/domain/organization"
	"muster/internal/accounts"
)

// TestAFilterWithoutMatchesReadsLittle: the log has one type and one person, and the statistics say so. A page
// of another must not walk all of it.
func TestAFilterWithoutMatchesReadsLittle(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana := d.member("ana@example.org", organization.Member, "")
	_, err := d.db.Exec(`INSERT INTO security_log (at, organization_id, member_id, type, ip, request_id, detail, component)
		SELECT $3::timestamptz + n * interval '1 second', $1, $2, 'refused', '', '', '', '' FROM generate_series(1, 20000) n`, d.org.ID, ana.ID, start)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.db.Exec(`ANALYZE security_log`); err != nil {
		t.Fatal(err)
	}
	conn, err := d.db.Connx(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, c := range []struct{ file, types, args, index string }{
		{"security_log", "", "", "security_log_of_organization"},
		{"security_log_by_type", ", text[]", ", '{signedIn,refused}'", "security_log_by_type"},
		{"security_log_by_member", ", uuid[], text[]", ", array['" + uuid.NewString() + "'::uuid], '{}'", "security_log_by_member"},
	} {
		query, err := os.ReadFile("sql/" + c.file + ".sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, mode := range []string{"force_generic_plan", "force_custom_plan"} {
			name := c.file + "_" + mode
			for _, statement := range []string{
				`SET plan_cache_mode = ` + mode,
				`PREPARE ` + name + ` (uuid, timestamptz, timestamptz, timestamptz, bigint, bigint` + c.types + `) AS ` + string(query),
			} {
				if _, err := conn.ExecContext(t.Context(), statement); err != nil {
					t.Fatal(err)
				}
			}
			var plan []string
			err := conn.SelectContext(t.Context(), &plan, `EXPLAIN (COSTS OFF) EXECUTE `+name+
				` ('`+d.org.ID.String()+`', '0001-01-01', '9999-01-01', '2026-11-21', 5, 51`+c.args+`)`)
			if err != nil {
				t.Fatal(err)
			}
			if text := strings.Join(plan, "\n"); !strings.Contains(text, c.index+" ") || strings.Contains(text, "Seq Scan") {
				t.Errorf("%s:\n%s", name, text)
			}
		}
	}
}

func TestEveryFilterOfTheSecurityLog(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	ana, ben := d.member("ana@example.org", organization.Member, ""), d.member("ben@example.org", organization.Member, "")
	for i, e := range []accounts.SecurityEntry{
		{MemberID: ana.ID, Type: accounts.SignedIn, Detail: "0"},
		{MemberID: ben.ID, Type: accounts.SignedIn, Detail: "1"},
		{MemberID: ana.ID, Type: accounts.Refused, Detail: "2"},
		{Type: accounts.SignInRefused, Detail: "3"},
		{MemberID: ana.ID, Type: accounts.SignedOut, Detail: "4"},
	} {
		e.OrganizationID, e.At = d.org.ID, start.Add(entryTimes[i])
		if err := d.RecordSecurity(t.Context(), e); err != nil {
			t.Fatal(err)
		}
	}
	for name, c := range map[string]struct {
		query accounts.SecurityQuery
		want  string
	}{
		"all, by time and not by id":   {accounts.SecurityQuery{}, "2 4 3 1 0"},
		"a window":                     {accounts.SecurityQuery{From: start.Add(entryTimes[1]), To: start.Add(entryTimes[4])}, "3 1"},
		"types":                        {accounts.SecurityQuery{Types: []string{accounts.SignedIn, accounts.SignedOut, accounts.SignedIn}}, "4 1 0"},
		"a person":                     {accounts.SecurityQuery{Members: []uuid.UUID{ana.ID}}, "2 4 0"},
		"two people":                   {accounts.SecurityQuery{Members: []uuid.UUID{ana.ID, ben.ID}}, "2 4 1 0"},
		"a person and a type":          {accounts.SecurityQuery{Members: []uuid.UUID{ana.ID}, Types: []string{accounts.SignedIn}}, "0"},
		"nobody's type":                {accounts.SecurityQuery{Types: []string{"x"}}, ""},
		"a window of a type":           {accounts.SecurityQuery{Types: []string{accounts.SignedIn}, From: start.Add(entryTimes[1])}, "1"},
		"another organization's types": {accounts.SecurityQuery{Organization: uuid.New(), Types: []string{accounts.SignedIn}}, ""},
	} {
		if c.query.Organization == uuid.Nil {
			c.query.Organization = d.org.ID
		}
		var got []string
		for c.query.Limit = 1; ; { // entry by entry
			page, err := d.SecurityLog(t.Context(), c.query)
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			got = append(got, page[0].Detail)
			c.query.Before = &accounts.SecurityPlace{At: page[0].At, ID: page[0].ID}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %v, want %s", name, got, c.want)
		}
	}
}

// entryTimes are those of the five entries: the third
// was written by a process whose clock is ahead.
var entryTimes = [5]time.Duration{0, 1 * time.Minute, 9 * time.Minute, 2 * time.Minute, 3 * time.Minute}
