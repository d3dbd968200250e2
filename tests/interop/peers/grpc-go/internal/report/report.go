// Package report writes events, one JSON object a line, on standard output.
package report

import (
	"encoding/json"
	"fmt"
	"os"
	"sync"
)

var (
	mutex   sync.Mutex
	encoder = json.NewEncoder(os.Stdout)
)

// Event writes one.
func Event(event any) {
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
