// go-control-plane is three programs of one module, to compare a control plane with the library
// that most others are made of:
//
//	serve   a server of go-control-plane's own, whose resources are handed to it
//	relay   stands between a client and its control plane and reports what passes
//	stream  a client without a will of its own: it sends what it is told and reports what comes
//
// Each reads commands, a JSON object a line, on standard input, and reports on standard output in
// the same form. Each ends with its standard input.
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"os"
	"sync"

	"google.golang.org/grpc"
)

func main() {
	programs := map[string]func(args []string) error{"serve": serve, "relay": relay, "stream": stream}
	if len(os.Args) < 2 || programs[os.Args[1]] == nil {
		fail(fmt.Errorf("say serve, relay or stream"))
	}
	if err := programs[os.Args[1]](os.Args[2:]); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

var output sync.Mutex

// report writes a JSON object on a line of standard output.
func report(event map[string]any) {
	line, err := json.Marshal(event)
	if err != nil {
		fail(err)
	}
	output.Lock()
	defer output.Unlock()
	os.Stdout.Write(append(line, '\n'))
}

// commands calls take with each line of standard input, decoded; it returns when that ends.
func commands[T any](take func(T) error) error {
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		var command T
		if err := json.Unmarshal(lines.Bytes(), &command); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		if err := take(command); err != nil {
			return err
		}
	}
	return lines.Err()
}

// listen serves on a loopback port until standard input ends.
func listen(address string, register func(*grpc.Server)) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(math.MaxInt32))
	register(server)
	report(map[string]any{"event": "listening", "address": listener.Addr().String()})
	return server.Serve(listener)
}
