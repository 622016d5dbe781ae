package page

import (
	"bytes"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"strings"

	"muster/internal/proof/attest"
)

//go:embed index.html style.css js/*.js
var parts embed.FS

// scripts are concatenated in this order: each uses what comes before it.
var scripts = []string{"bytes", "md5", "der", "pdf", "proof", "stamp", "check", "page"}

// Write returns the page as one HTML file. keys, where there are any, are the document of
// an installation's public keys that it brings along. Errors: *attest.MalformedError.
func Write(keys []byte) ([]byte, error) {
	if len(keys) > 0 {
		if _, err := attest.ParseKeys(keys); err != nil {
			return nil, err
		}
	}
	script, err := script()
	if err != nil {
		return nil, err
	}
	style, err := parts.ReadFile("style.css")
	if err != nil {
		return nil, err
	}
	source, err := parts.ReadFile("index.html")
	if err != nil {
		return nil, err
	}
	policy := fmt.Sprintf("default-src 'none'; script-src %s; style-src %s; form-action 'none'; base-uri 'none'", hashOf(script), hashOf(style))
	page := strings.NewReplacer("{{policy}}", policy, "{{style}}", string(style), "{{script}}", string(script),
		"{{keys}}", base64.StdEncoding.EncodeToString(keys)).Replace(string(source))
	return []byte(page), nil
}

// script is the whole program, in a scope of its own.
func script() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("\"use strict\";\n(() => {\n")
	for _, name := range scripts {
		text, err := parts.ReadFile("js/" + name + ".js")
		if err != nil {
			return nil, err
		}
		out.Write(text)
	}
	out.WriteString("})();\n")
	return out.Bytes(), nil
}

// hashOf is the source of a policy that lets run, or apply, just this text.
func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
