package supervise_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// allowed are the functions that start a goroutine which recovers nothing, and why.
var allowed = map[string]string{
	"internal/cli/serve/demo.go startDemos":          "waits, and closes a channel",
	"internal/cli/serve/http.go startHTTP":           "a listener that fails ends the process",
	"internal/cli/serve/ready.go startDoor":          "a listener that fails ends the process",
	"internal/cli/serve/demo.go runDemo":             "each member is a loop of the Supervisor's",
	"internal/cli/serve/entrance.go newEntrance":     "a listener that fails ends the process",
	"internal/servers/login.go newLogin":             "ends a context",
	"internal/cli/operate/backup.go progress":        "prints what a command does; a command may end by a panic",
	"internal/cli/service_windows.go Execute":        "is the program itself",
	"handlers/jobs/subscriber.go Close":              "waits, and closes a channel",
	"handlers/jobs/subscriber.go Subscribe":          "ends a context",
	"internal/files/blobs/upload.go lingering":       "ends a context",
	"internal/mail/smtp.go begin":                    "closes a connection",
	"internal/servers/oracle_wire.go bound":          "sets a deadline",
	"internal/servers/sqlserver.go openSQLServer":    "closes a connection",
	"internal/servers/sqlserver_session.go Each":     "waits, and closes a connection",
	"internal/measurements/clickhouse/put.go insert": "ends a context",
	"internal/intake/measure/gate.go pass":           "counts, and closes a channel",
}

// TestNoGoroutineIsBare: whatever the program runs in a goroutine of its own goes through
// this package, so that a panic in it does not end the process. It looks for go
// statements, for Go of a sync.WaitGroup and of an errgroup, for AfterFunc, and for
// singleflight's DoChan.
func TestNoGoroutineIsBare(t *testing.T) {
	t.Parallel()
	root := filepath.Join("..", "..", "..")
	used := map[string]bool{}
	for _, top := range []string{"cmd", "commands", "domain", "eventstore", "handlers", "internal", "projections", "web"} {
		err := filepath.WalkDir(filepath.Join(root, top), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && (strings.HasSuffix(d.Name(), "test") || d.Name() == "node_modules" || d.Name() == "api"): // the program links no …test
				return filepath.SkipDir
			case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			name = filepath.ToSlash(name)
			for _, in := range bare(file, strings.HasPrefix(name, "internal/cli/serve/") || strings.HasPrefix(name, "internal/agent/")) {
				if where := name + " " + in; allowed[where] == "" {
					t.Errorf("%s starts a goroutine that recovers no panic: use internal/concurrency/supervise", where)
				} else {
					used[where] = true
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for where := range allowed {
		if !used[where] {
			t.Errorf("%s starts none: take it off the list", where)
		}
	}
}

// bare returns the functions of a file that start a goroutine in which nothing of
// supervise's is called. In a file that starts loops the members of a group must be run by
// a Supervisor.
func bare(file *ast.File, loops bool) (functions []string) {
	groups := names(file, "sync", "WaitGroup")
	for _, declared := range file.Decls {
		within := "a variable"
		if function, ok := declared.(*ast.FuncDecl); ok {
			within = function.Name.Name
		}
		ast.Inspect(declared, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				if !supervised(n.Call) {
					functions = append(functions, within)
				}
			case *ast.CallExpr:
				method, ok := n.Fun.(*ast.SelectorExpr)
				if !ok {
					break
				}
				of := last(method.X)
				waits := method.Sel.Name == "Go" && (loops || slices.Contains(groups, of) || of == "errgroup")
				if (waits || method.Sel.Name == "AfterFunc" || method.Sel.Name == "DoChan") && !supervised(n) {
					functions = append(functions, within)
				}
			}
			return true
		})
	}
	for _, i := range file.Imports {
		if path, _ := strconv.Unquote(i.Path.Value); path == "golang.org/x/sync/errgroup" && file.Name.Name != "supervise" {
			functions = append(functions, "import errgroup")
		}
	}
	return functions
}

// supervised says that something of supervise's, or survive, is called in a call's arguments
// or body.
func supervised(call *ast.CallExpr) (is bool) {
	ast.Inspect(call, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok {
			x := last(s.X)
			is = is || x == "supervise" || x == "Loops" || x == "loops" || s.Sel.Name == "survive" || s.Sel.Name == "runDemo"
		}
		return !is
	})
	return is
}

// names are the variables and fields of a file that are declared as a type of a package.
func names(file *ast.File, pkg, typ string) (found []string) {
	is := func(e ast.Expr) bool {
		s, ok := e.(*ast.SelectorExpr)
		return ok && s.Sel.Name == typ && last(s.X) == pkg
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ValueSpec:
			if n.Type != nil && is(n.Type) {
				for _, name := range n.Names {
					found = append(found, name.Name)
				}
			}
		case *ast.Field:
			if is(n.Type) {
				for _, name := range n.Names {
					found = append(found, name.Name)
				}
			}
		}
		return true
	})
	return found
}

// last is the last name of an expression: b of a.b.
func last(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}
