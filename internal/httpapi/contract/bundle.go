package contract

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// openapi.yaml names the headers that every response has once, and an operation those of them
// that its responses lack. Every other reader of the description wants them at each response.
const (
	everyResponse = "x-response-headers"
	withoutThese  = "x-without-response-headers"
)

// Bundle returns openapi.yaml with the headers of every response at each response, as it is
// served, read and linted.
func Bundle(source []byte) ([]byte, error) {
	document, err := bundle(source)
	if err != nil || len(document.Content) == 0 {
		return source, err
	}
	var out bytes.Buffer
	encoder := yaml.NewEncoder(&out)
	encoder.SetIndent(2)
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("write openapi.yaml: %w", err)
	}
	return out.Bytes(), encoder.Close()
}

func bundle(source []byte) (*yaml.Node, error) {
	document := &yaml.Node{}
	if err := yaml.Unmarshal(source, document); err != nil {
		return nil, fmt.Errorf("read openapi.yaml: %w", err)
	}
	if len(document.Content) == 0 {
		return document, nil
	}
	top := document.Content[0]
	every := wordsOf(take(top, everyResponse))
	defined := value(value(top, "components"), "headers")
	for _, name := range every {
		if value(defined, name) == nil {
			return nil, fmt.Errorf("openapi.yaml: %s names %s, which components/headers does not define", everyResponse, name)
		}
	}
	for _, item := range values(value(top, "paths")) {
		for _, operation := range values(item) {
			if err := addHeaders(operation, every); err != nil {
				return nil, err
			}
		}
	}
	return document, nil
}

// addHeaders adds headers to each response of an operation that is not a reference.
func addHeaders(operation *yaml.Node, every []string) error {
	without := wordsOf(take(operation, withoutThese))
	for _, name := range without {
		if !slices.Contains(every, name) {
			return fmt.Errorf("openapi.yaml, line %d: %s names %s, which not every response has", operation.Line, withoutThese, name)
		}
	}
	for _, response := range values(value(operation, "responses")) {
		if value(response, "$ref") != nil {
			continue
		}
		headers := value(response, "headers")
		if headers == nil {
			headers = &yaml.Node{Kind: yaml.MappingNode}
			response.Content = append(response.Content, text("headers"), headers)
		}
		for _, name := range every {
			if slices.Contains(without, name) || value(headers, name) != nil {
				continue
			}
			reference := &yaml.Node{Kind: yaml.MappingNode, Style: yaml.FlowStyle}
			reference.Content = []*yaml.Node{text("$ref"), text("#/components/headers/" + name)}
			headers.Content = append(headers.Content, text(name), reference)
		}
	}
	return nil
}

func text(s string) *yaml.Node {
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s}
	if strings.HasPrefix(s, "#") {
		n.Style = yaml.SingleQuotedStyle
	}
	return n
}

// value returns the value of a key of a mapping; nil: there is none.
func value(mapping *yaml.Node, key string) *yaml.Node {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		if mapping.Content[i].Value == key {
			return mapping.Content[i+1]
		}
	}
	return nil
}

// values returns all values of a mapping.
func values(mapping *yaml.Node) (all []*yaml.Node) {
	if mapping == nil || mapping.Kind != yaml.MappingNode {
		return nil
	}
	for i := 1; i < len(mapping.Content); i += 2 {
		all = append(all, mapping.Content[i])
	}
	return all
}

// take removes a key from a mapping and returns its value.
func take(mapping *yaml.Node, key string) *yaml.Node {
	found := value(mapping, key)
	if found == nil {
		return nil
	}
	i := slices.Index(mapping.Content, found)
	mapping.Content = slices.Delete(mapping.Content, i-1, i+1)
	return found
}

func wordsOf(sequence *yaml.Node) (words []string) {
	if sequence == nil {
		return nil
	}
	for _, n := range sequence.Content {
		words = append(words, n.Value)
	}
	return words
}
