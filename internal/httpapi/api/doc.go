// Package api is openapi.yaml in Go. The types, the interface of the handlers (Handlers) and
// the table of the operations (Operations) are generated with the templates of
// httpapi/oapi-codegen. A row of the table reads requests into the operation's type by the
// tags of its fields; the type's answers, one for each status of openapi.yaml, write themselves.
package api
