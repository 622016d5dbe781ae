package api

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strconv"
)

// writer is a short name, with which gofmt leaves an interface of one method on one line. api.gen.go
// has one for each operation.
type writer = http.ResponseWriter

// writeJSON writes nothing where the body cannot be encoded.
func writeJSON(w http.ResponseWriter, status int, headers any, contentType string, body any) error {
	var text bytes.Buffer
	if err := json.NewEncoder(&text).Encode(body); err != nil {
		return err
	}
	w.Header().Set("Content-Type", contentType)
	writeHead(w, status, headers)
	_, err := text.WriteTo(w)
	return err
}

// file is an answer that is no JSON.
type file struct {
	Body          io.Reader
	ContentLength int64 // 0: not known
}

// writeFile writes a body that is no JSON, and closes it where it can be closed.
func writeFile(w http.ResponseWriter, status int, contentType string, body io.Reader, length int64) error {
	if closer, ok := body.(io.Closer); ok {
		defer closer.Close() //nolint:errcheck // it was only read
	}
	w.Header().Set("Content-Type", contentType)
	if length != 0 {
		w.Header().Set("Content-Length", strconv.FormatInt(length, 10))
	}
	writeHead(w, status, nil)
	_, err := io.Copy(w, body)
	return err
}

// writeEmpty writes an answer without a body.
func writeEmpty(w http.ResponseWriter, status int, headers any) error {
	writeHead(w, status, headers)
	return nil
}

// writeHead writes headers and status. headers is a struct whose fields have the tag header, or
// nil. A field that is a nil pointer is a header that the answer does not have.
func writeHead(w http.ResponseWriter, status int, headers any) {
	if headers != nil {
		all := reflect.ValueOf(headers)
		for i := range all.NumField() {
			if value := reflect.Indirect(all.Field(i)); value.IsValid() {
				w.Header().Set(all.Type().Field(i).Tag.Get("header"), fmt.Sprint(value))
			}
		}
	}
	w.WriteHeader(status)
}
