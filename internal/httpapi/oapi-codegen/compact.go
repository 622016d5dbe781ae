//go:build ignore

// Compact takes out of the generated file what the code of this module does not have either: the
// blank lines before fields, between types of one line and between those of parameters, and the comments of fields that are
// the same at all fields of one type, or at the type. Those stand at the type.
package main

import (
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"log"
	"os"
	"regexp"
	"slices"
	"strings"
)

const name = "api/api.gen.go"

func main() {
	source, err := os.ReadFile(name)
	if err != nil {
		log.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		log.Fatal(err)
	}
	source = edited(source, atTheirTypes(file), func(p token.Pos) int { return files.Position(p).Offset })
	source = regexp.MustCompile(`\n\n(\t+// )`).ReplaceAll(source, []byte("\n$1"))
	source = regexp.MustCompile("\n\n(\t+\\w+ [^\n]*`\\w+:)").ReplaceAll(source, []byte("\n$1"))
	for of := regexp.MustCompile(`(?m)(^type [^{\n]+)\n\n+(type [^{\n]+)$`); of.Match(source); {
		source = of.ReplaceAll(source, []byte("$1\n$2"))
	}
	source = regexp.MustCompile(`\n}\n\n(type \w+Params struct)`).ReplaceAll(source, []byte("\n}\n$1"))
	source, err = format.Source(source)
	if err != nil {
		log.Fatal(err)
	}
	if err := os.WriteFile(name, source, 0o644); err != nil {
		log.Fatal(err)
	}
}

// edit replaces what stands between two places.
type edit struct {
	from, to token.Pos
	text     string
}

// atTheirTypes moves comments from fields to their types.
func atTheirTypes(file *ast.File) (all []edit) {
	fields := map[string][]*ast.Field{} // by the name of their type
	ast.Inspect(file, func(n ast.Node) bool {
		if field, ok := n.(*ast.Field); ok && typeOf(field.Type) != "" {
			fields[typeOf(field.Type)] = append(fields[typeOf(field.Type)], field)
		}
		return true
	})
	for _, decl := range file.Decls {
		of, ok := decl.(*ast.GenDecl)
		if !ok || of.Tok != token.TYPE {
			continue
		}
		name := of.Specs[0].(*ast.TypeSpec).Name.Name
		same := fields[name]
		said := words(of.Doc)
		if said == "" && len(same) > 1 {
			said = words(same[0].Doc)
			if said == "" || slices.ContainsFunc(same, func(f *ast.Field) bool { return words(f.Doc) != said }) {
				continue
			}
			all = append(all, edit{of.Pos(), of.Pos(), strings.Replace(comment(same[0].Doc), same[0].Names[0].Name, name, 1)})
		}
		for _, field := range same {
			if said != "" && words(field.Doc) == said {
				all = append(all, edit{field.Doc.Pos(), field.Pos(), ""})
			}
		}
	}
	return all
}

// edited is the source with all edits.
func edited(source []byte, all []edit, offset func(token.Pos) int) (out []byte) {
	slices.SortFunc(all, func(a, b edit) int { return int(a.from - b.from) })
	at := 0
	for _, e := range all {
		out = append(append(out, source[at:offset(e.from)]...), e.text...)
		at = offset(e.to)
	}
	return append(out, source[at:]...)
}

// typeOf is the name of a field's type, or of what it points to.
func typeOf(t ast.Expr) string {
	if pointer, ok := t.(*ast.StarExpr); ok {
		t = pointer.X
	}
	if of, ok := t.(*ast.Ident); ok {
		return of.Name
	}
	return ""
}

// words is a comment behind the name that it begins with; empty: there is none.
func words(doc *ast.CommentGroup) string {
	_, text, _ := strings.Cut(strings.Join(strings.Fields(doc.Text()), " "), " ")
	return text
}

// comment is a comment as it stands above a type.
func comment(doc *ast.CommentGroup) (text string) {
	for _, line := range doc.List {
		text += line.Text + "\n"
	}
	return text
}
