// Command openapi_bundle prints openapi.yaml, which it reads from its standard input, as it is
// served: with the headers of every response at each response. The linter reads that form.
package main

import (
	"fmt"
	"io"
	"os"

	"muster/internal/httpapi/contract"
)

func main() {
	source, err := io.ReadAll(os.Stdin)
	if err == nil {
		source, err = contract.Bundle(source)
	}
	if err == nil {
		_, err = os.Stdout.Write(source)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
