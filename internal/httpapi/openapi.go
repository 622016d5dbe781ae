package httpapi

import (
	_ "embed"
	"sync"

	"muster/internal/httpapi/contract"
)

//go:generate go run github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@v2.8.2 -config oapi-codegen.yaml openapi.yaml

//go:embed openapi.yaml
var openapiYAML []byte

// ourContract is openapi.yaml, read once a process, which may be tests with many
// servers: it takes a tenth of a second.
var ourContract = sync.OnceValues(func() (*contract.Contract, error) { return contract.Load(openapiYAML) })
