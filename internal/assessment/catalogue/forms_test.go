package catalogue

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"muster/domain/fleet"
)

// vendorForms are the forms of the statements for engines that no server here can try,
// each as the vendor's syntax diagram has it. A misspelt word or option has no form.
var vendorForms = map[fleet.Engine][]*regexp.Regexp{
	fleet.SQLServer: {
		form(`RECONFIGURE;`),
		form(`EXEC sys\.sp_configure STRING, [01];`),
		form(`ALTER LOGIN NAME (ENABLE|DISABLE);`),
		form(`ALTER LOGIN NAME WITH CHECK_POLICY = ON, CHECK_EXPIRATION = (ON|OFF);`),
		form(`ALTER LOGIN NAME WITH (CHECK_POLICY|CHECK_EXPIRATION) = OFF;`),
		form(`ALTER SERVER ROLE sysadmin (ADD|DROP) MEMBER NAME;`),
		form(`ALTER DATABASE NAME SET (TRUSTWORTHY|AUTO_CLOSE|AUTO_SHRINK|AUTO_CREATE_STATISTICS|AUTO_UPDATE_STATISTICS) (ON|OFF);`),
		form(`ALTER DATABASE NAME SET PAGE_VERIFY CHECKSUM;`),
		form(`ALTER DATABASE NAME SET QUERY_STORE = (ON \(QUERY_CAPTURE_MODE = AUTO, MAX_STORAGE_SIZE_MB = \d+\)|OFF);`),
		form(`ALTER ENDPOINT NAME FOR (DATABASE_MIRRORING|SERVICE_BROKER) \(ENCRYPTION = REQUIRED ALGORITHM AES\);`),
		form(`ALTER TABLE NAME\.NAME WITH CHECK CHECK CONSTRAINT NAME;`),
		form(`ALTER INDEX NAME ON NAME\.NAME (REBUILD|DISABLE);`),
		form(`DBCC CHECKDB \(NAME\) WITH NO_INFOMSGS;`),
	},
	fleet.Oracle: {
		form(`ALTER USER NAME PASSWORD EXPIRE ACCOUNT LOCK;`),
		form(`ALTER PROFILE NAME LIMIT( (FAILED_LOGIN_ATTEMPTS|PASSWORD_LOCK_TIME|PASSWORD_REUSE_MAX|PASSWORD_REUSE_TIME|PASSWORD_GRACE_TIME|INACTIVE_ACCOUNT_TIME) [0-9]+)+;`),
		form(`(NO)?AUDIT POLICY (ORA_(SECURECONFIG|ACCOUNT_MGMT)|sign_ins);`),
		form(`CREATE AUDIT POLICY sign_ins ACTIONS LOGON, LOGOFF;`),
		form(`DROP AUDIT POLICY sign_ins;`),
		form(`ALTER DATABASE (NO )?FORCE LOGGING;`),
		form(`ALTER SYSTEM SET [A-Za-z0-9_]+ = ([A-Z]+|[0-9]+|'[^']+') SCOPE = (SPFILE|BOTH);`),
	},
}

func form(words string) *regexp.Regexp {
	return regexp.MustCompile("^" + strings.NewReplacer("NAME", `(\[x y\]|"x y")`, "STRING", `N'[A-Za-z _]+'`).Replace(words) + "$")
}

// TestStatementsAreOfDocumentedForms: statements printed for SQL Server and Oracle have a form
// that the vendor documents, complete, with nothing left to fill in.
func TestStatementsAreOfDocumentedForms(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	used := map[*regexp.Regexp]bool{}
	for _, check := range c.Checks() {
		for _, s := range slices.Concat(check.Statements, check.Undo) {
			if !engineOf(check).Fed {
				continue
			}
			values := map[string]string{}
			for _, v := range s.variables {
				values[v] = "x y"
			}
			text, ok := s.with(values)
			if !ok || strings.ContainsAny(text, "{}<>…") {
				t.Errorf("%s prints %q", check.ID, text)
			}
			for line := range strings.Lines(text) {
				line = strings.TrimSuffix(line, "\n")
				i := slices.IndexFunc(vendorForms[fleet.Engine(check.Engine)], func(f *regexp.Regexp) bool { return f.MatchString(line) })
				if i < 0 {
					t.Errorf("%s: %s is of no documented form", check.ID, line)
					continue
				}
				used[vendorForms[fleet.Engine(check.Engine)][i]] = true
			}
		}
	}
	for engine, forms := range vendorForms {
		for _, f := range forms {
			if !used[f] {
				t.Errorf("no statement of %s is of the form %s", engine, f)
			}
		}
	}
}

// TestAFixSetsTheOptionThatItsCheckReads, in each statement that sets an option of SQL Server.
func TestAFixSetsTheOptionThatItsCheckReads(t *testing.T) {
	t.Parallel()
	c, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	set := regexp.MustCompile(`sp_configure N'([^']+)'`)
	for _, check := range c.Of(fleet.SQLServer) {
		for _, s := range slices.Concat(check.Statements, check.Undo) {
			for _, found := range set.FindAllStringSubmatch(s.text, -1) {
				if found[1] != "show advanced options" && !slices.ContainsFunc(check.Reads, func(r Read) bool { return r.Kind == ReadOption && r.Name == found[1] }) {
					t.Errorf("%s sets %s", check.ID, found[1])
				}
			}
		}
	}
}
