package feed

import (
	"testing"
	"time"

	"muster/domain/fleet"
)

func TestVersionsOfOtherEnginesHaveAnEndOfLife(t *testing.T) {
	t.Parallel()
	f, err := Load()
	if err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		engine                      fleet.Engine
		version, major, end, target string
	}{
		{fleet.SQLServer, "16.0.4135.4", "2022", "2033-01-11", "16.0.4265 (CU26)"},
		{fleet.SQLServer, "2022 CU14", "2022", "2033-01-11", "16.0.4265 (CU26)"},
		{fleet.SQLServer, "Microsoft SQL Server 2014 (SP3) - 12.0.6024.0", "2014", "2024-07-09", "2025"},
		{fleet.SQLServer, "10.50.6000.34", "2008 R2", "2019-07-09", "2025"},
		{fleet.SQLServer, "2008 R2", "2008 R2", "2019-07-09", "2025"},
		{fleet.SQLServer, "10.0.6000.29", "2008", "2019-07-09", "2025"},
		{fleet.SQLServer, "13.0.7016.1", "2016", "2026-07-14", "2025"},
		{fleet.SQLServer, "15.0.4261.1 of Sep 12 2022", "2019", "2030-01-08", "15.0.4480 (CU32+GDR)"},
		{fleet.SQLServer, "1.0", "", "", ""},
		{fleet.SQLServer, "", "", "", ""},
		{fleet.Oracle, "19.24.0.0.0", "19c", "2029-12-31", "19.32"},
		{fleet.Oracle, "19c", "19c", "2029-12-31", ""},
		{fleet.Oracle, "12.2.0.1.0", "12c Release 2", "2022-03-31", "26ai"},
		{fleet.Oracle, "12c", "", "", ""}, // which release of it, nobody says
		{fleet.Oracle, "23.26.0.0.0", "26ai", "2031-12-31", "23.26.3"},
		{fleet.Oracle, "23ai", "26ai", "2031-12-31", ""},
		{fleet.Oracle, "26ai", "26ai", "2031-12-31", ""},
		{fleet.MySQL, "8.0.36-28", "8.0", "2026-04-30", "8.4"},
		{fleet.MySQL, "8.4.2", "8.4", "2032-04-30", "8.4.11"},
		{fleet.MySQL, "8.40.1", "", "", ""},
		{fleet.MySQL, "9.7.0", "", "", ""}, // its end is not known
		{fleet.MySQL, "5.5.68-MariaDB", "", "", ""},
		{fleet.MongoDB, "7.0.12", "7.0", "2027-08-31", "7.0.40"},
		{fleet.MongoDB, "4.4.29", "4.4", "2024-02-29", "8.0"},
		{fleet.MongoDB, "5.0.1", "5.0", "2024-10-31", "8.0"},
		{fleet.PostgreSQL, "15.18", "", "", ""},
	} {
		r, _ := f.Judge(test.engine, test.version, nil, at)
		if r == nil {
			if test.major != "" {
				t.Errorf("%s %s is not known", test.engine, test.version)
			}
			continue
		}
		if r.Major != test.major || r.EndOfLife.Format(time.DateOnly) != test.end || r.Target != test.target {
			t.Errorf("%s %s: %+v", test.engine, test.version, r)
		}
		if (r.Target != "") != (r.TargetEndOfLife != nil) {
			t.Errorf("%s %s: to %q until %v", test.engine, test.version, r.Target, r.TargetEndOfLife)
		}
	}
	if r, _ := f.Judge(fleet.SQLServer, "2016", nil, time.Date(2026, 7, 13, 23, 59, 59, 0, time.UTC)); r.Target != "" {
		t.Errorf("the day before its end: %+v", r)
	}
	if r, _ := f.Judge(fleet.SQLServer, "2016", nil, time.Date(2040, 1, 1, 0, 0, 0, 0, time.UTC)); r.Target != "" {
		t.Errorf("to a version that has ended as well: %+v", r)
	}
}

func TestInvalidLifecyclesAreRefused(t *testing.T) {
	t.Parallel()
	for text, broken := range map[string]bool{
		"engine,major,release,end_of_life,source\nsqlserver,2022,16,2033-01-11,x\n":                           false,
		"engine,major,release,end_of_life,source\nsqlserver,2022,16,soon,x\n":                                 true,
		"engine,major,release,end_of_life,source\nsqlserver,2022,16,2033-01-11,\n":                            true,
		"engine,major,release,end_of_life,source\nsqlserver,a,16,2033-01-11,x\nsqlserver,b,16,2033-01-11,x\n": true,
		"engine,major,release,end_of_life,source\nsqlserver,2022,16,2033-01-11\n":                             true,
	} {
		if err := (&Feed{}).readLifecycles([]byte(text)); (err != nil) != broken {
			t.Errorf("%q: %v", text, err)
		}
	}
}
