// Package sinkpeer is what the two sink programs share: they run the MCP sink of Istio 1.5.10
// unchanged and tell what it took, one JSON object a line, on standard output.
package sinkpeer

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"istio.io/pkg/log"
)

var (
	mutex   sync.Mutex
	encoder = json.NewEncoder(os.Stdout)
)

// Report writes one event as a line.
func Report(event interface{}) {
	mutex.Lock()
	defer mutex.Unlock()
	if err := encoder.Encode(event); err != nil {
		Fail(err)
	}
}

// Fail says why the program cannot go on and ends it.
func Fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// QuietLog sends what the library logs, errors only, to standard error.
func QuietLog() {
	options := log.DefaultOptions()
	options.OutputPaths = []string{"stderr"}
	options.SetOutputLevel("default", log.ErrorLevel)
	options.SetOutputLevel("mcp", log.ErrorLevel)
	if err := log.Configure(options); err != nil {
		Fail(err)
	}
}
