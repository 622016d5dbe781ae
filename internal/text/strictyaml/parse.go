package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// MaxBytes is more than a file with 10,000 servers takes.
const MaxBytes = 8 << 20

// maxDepth is deeper than any file that is read.
const maxDepth = 16

// Document parses the one document of a file; false: Faults say why it cannot be read.
func (r *Reader) Document(text []byte) (*Node, bool) {
	if len(text) > MaxBytes {
		r.Refuse(&Node{Line: 1}, "", fmt.Sprintf("the file has more than %d bytes", MaxBytes))
		return nil, false
	}
	in := yaml.NewDecoder(bytes.NewReader(text))
	var first, second Node
	err := in.Decode(&first)
	if errors.Is(err, io.EOF) {
		r.Refuse(&Node{Line: 1}, "", "the file is empty")
		return nil, false
	}
	if err != nil {
		r.Faults = append(r.Faults, parserFaults(err)...)
		return nil, false
	}
	if err := in.Decode(&second); err == nil {
		r.Refuse(&second, "", "the file holds a second document")
	} else if !errors.Is(err, io.EOF) {
		r.Faults = append(r.Faults, parserFaults(err)...)
	}
	r.plain(&first, 0)
	return first.Content[0], len(r.Faults) == 0
}

// plain refuses what makes a file other than it looks.
func (r *Reader) plain(node *Node, depth int) {
	if node.Kind == yaml.AliasNode || node.Anchor != "" {
		r.Refuse(node, "", "anchors and aliases are not read: write out what is meant")
		return
	}
	if depth > maxDepth {
		r.Refuse(node, "", "is nested too deep")
		return
	}
	for _, n := range node.Content {
		r.plain(n, depth+1)
	}
}

// Decode reads a file of the program's own into a value whose type has its members. Unknown
// members and a second document are errors, which quote the file; anchors are read.
func Decode(text []byte, into any) error {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	if err := decoder.Decode(into); err != nil {
		return err
	}
	if err := decoder.Decode(new(Node)); !errors.Is(err, io.EOF) {
		return errors.New("the file holds a second document")
	}
	return nil
}

// lineOf finds the line in an error of the parser, which has no type.
var lineOf = regexp.MustCompile(`^line (\d+): `)

// parserFaults are those of the parser's error, without what they quote from the file: that is
// a value or the name of an anchor, and either may be an unquoted password.
func parserFaults(err error) (faults []Fault) {
	lines := strings.Split(err.Error(), "\n")
	if typed := new(yaml.TypeError); errors.As(err, &typed) {
		lines = typed.Errors
	}
	for _, line := range lines {
		f := Fault{Line: 1, Rule: strings.TrimPrefix(line, "yaml: ")}
		if found := lineOf.FindStringSubmatch(f.Rule); found != nil {
			f.Line, _ = strconv.Atoi(found[1])
			f.Rule = f.Rule[len(found[0]):]
		}
		if strings.ContainsAny(f.Rule, "'\"`") {
			f.Rule = "a value there cannot be read"
		}
		f.Rule = "is not YAML: " + f.Rule
		faults = append(faults, f)
	}
	return faults
}
