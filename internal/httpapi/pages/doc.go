// Package pages serves the application of web/: one document at every address of a page, which
// loads over the API what the caller may see. The document contains no data, and anyone may load
// it. A binary that was built without the application serves the API, and its pages say what is
// missing.
//
// The description of the API (/docs/api) is a page of its own, built with the application:
// Swagger UI, which reads /api/v1/openapi.json from here and contacts no other host. Its content
// security policy is stricter than the application's: no inline styles.
//
// Browsers keep files that are named by their content forever, and request all others again, so
// an old script never meets a new server.
package pages
