// Package pages serves the application of web/: one document at every address of a
// page, filled over the API with what the caller may see. Nothing of anybody's is in
// it, and anyone may load it. A binary that was built without the application answers
// the API and says on its pages what is missing.
//
// The description of the API (/docs/api) is a page of its own, built with the
// application: Swagger UI, which reads /api/v1/openapi.json from here and asks no other
// host for anything. Its policy is stricter than the application's: no inline styles.
//
// What is named by its content is kept for ever by browsers, all else is asked for
// again, so that no old script meets a new server.
package pages
