package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const goLines = `{"Action":"start","Package":"muster/a"}
{"Action":"output","Package":"muster/a","Test":"TestSlow","Output":"=== RUN   TestSlow\n"}
{"Action":"pass","Package":"muster/a","Test":"TestSlow","Elapsed":12.5}
{"Action":"output","Package":"muster/a","Test":"TestPicture","Output":"    picture_test.go:22: pdftoppm is missing: install poppler-utils\n"}
{"Action":"output","Package":"muster/a","Test":"TestPicture","Output":"--- SKIP: TestPicture (0.00s)\n"}
{"Action":"skip","Package":"muster/a","Test":"TestPicture","Elapsed":0}
{"Action":"output","Package":"muster/a","Test":"TestBroken/one","Output":"    a_test.go:3: got 1, want 2\n"}
{"Action":"fail","Package":"muster/a","Test":"TestBroken/one","Elapsed":0.1}
{"Action":"output","Package":"muster/a","Test":"TestBroken","Output":"--- FAIL: TestBroken (0.10s)\n"}
{"Action":"fail","Package":"muster/a","Test":"TestBroken","Elapsed":0.1}
{"Action":"output","Package":"muster/a","Test":"TestBefore","Output":"WARNING: DATA RACE\n"}
{"Action":"output","Package":"muster/a","Test":"TestBefore","Output":"Write at 0x00c0 by goroutine 7:\n"}
{"Action":"pass","Package":"muster/a","Test":"TestBefore","Elapsed":0}
{"Action":"output","Package":"muster/a","Test":"TestHangs","Output":"panic: test timed out\n"}
{"Action":"output","Package":"muster/a","Output":"FAIL\tmuster/a\t13.0s\n"}
{"Action":"fail","Package":"muster/a","Elapsed":13}
{"ImportPath":"muster/b","Action":"build-output","Output":"b.go:1: does not compile\n"}
{"Action":"output","Package":"muster/b","Output":"FAIL\tmuster/b [build failed]\n"}
{"Action":"fail","Package":"muster/b","Elapsed":0}
`

const vitest = `{"testResults":[{"name":"/home/me/muster/web/e2e/chart.test.ts","assertionResults":[
	{"fullName":"draws a line","status":"passed","duration":30500},
	{"fullName":"needs the built pages","status":"skipped","duration":0},
	{"fullName":"says much","status":"failed","duration":100,"failureMessages":["Error: line 1` + lines2to40 + `"]}]},
	{"name":"/home/me/muster/web/e2e/x.test.ts","status":"failed","message":"x.test.ts cannot be read","assertionResults":[]}]}`

const lines2to40 = `\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n14\n15\n16\n17\n18\n19\n20` +
	`\n21\n22\n23\n24\n25\n26\n27\n28\n29\n30\n31\n32\n33\n34\n35\n36\n37\n38\n39\n40`

func TestAFailureIsShownInFull(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := newGoTests(&out).read(strings.NewReader(goLines)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"a_test.go:3: got 1, want 2", "--- FAIL: TestBroken", "panic: test timed out", "FAIL\tmuster/a", "does not compile", "by goroutine 7"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s", want, &out)
		}
	}
	if strings.Contains(out.String(), "TestSlow") || strings.Contains(out.String(), "pdftoppm") {
		t.Errorf("what passed or was skipped is shown:\n%s", &out)
	}
}

func TestTheEndOfARun(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.json": goLines, "web.json": vitest, "parts": "lint 61 0\ngo 240 1\n", "skipped": "all browser tests: npm is missing\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	if err := summarize(&out, dir); err != nil {
		t.Fatal(err)
	}
	want := `
The slowest of 11 tests:
    30.5 s  web/e2e/chart.test.ts draws a line
    12.5 s  a TestSlow
     0.1 s  a TestBroken
     0.1 s  a TestBroken/one
     0.1 s  web/e2e/chart.test.ts says much
     0.0 s  a TestBefore
     0.0 s  a TestHangs
     0.0 s  a TestPicture
     0.0 s  b
     0.0 s  web/e2e/chart.test.ts needs the built pages
     0.0 s  web/e2e/x.test.ts

Skipped:
  make test-all runs it, or its name says what is missing
      web/e2e/chart.test.ts needs the built pages
  npm is missing
      all browser tests
  pdftoppm is missing: install poppler-utils
      a TestPicture

passed lint          1:01
FAILED go            4:00

FAILED a TestBroken/one
      a_test.go:3: got 1, want 2

FAILED a TestBroken
  --- FAIL: TestBroken (0.10s)

FAILED a TestBefore
  WARNING: DATA RACE
  Write at 0x00c0 by goroutine 7:

FAILED a TestHangs
  panic: test timed out

FAILED b
  FAIL	muster/b [build failed]

FAILED web/e2e/chart.test.ts says much
  Error: line 1
  2
  3
  4
  5
  6
  7
  8
  9
  10
  11
  12
  13
  14
  15
  [10 lines more]
  26
  27
  28
  29
  30
  31
  32
  33
  34
  35
  36
  37
  38
  39
  40

FAILED web/e2e/x.test.ts
  x.test.ts cannot be read
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", &out, want)
	}
}

func TestAnEmptyReport(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if err := summarize(&out, t.TempDir()); err != nil || !strings.Contains(out.String(), "No test was skipped.") {
		t.Errorf("%v: %s", err, &out)
	}
}
