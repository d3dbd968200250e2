// grpc-go is a gRPC client of grpc-go, driven by lines on standard input; see ../../lib/grpc_client.ts. It
// knows nothing but what GRPC_XDS_BOOTSTRAP says and the targets that it is told.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/status"
	_ "google.golang.org/grpc/xds"

	"pinnace.example/interop/grpc-go/internal/raw"
	"pinnace.example/interop/grpc-go/internal/report"
)

const deadline = 30 * time.Second

// A tally is what became of calls since it was last taken.
type tally struct {
	mutex      sync.Mutex
	answers    map[string]int
	failures   []string
	unfinished sync.WaitGroup
	open       int
}

func newTally() *tally {
	return &tally{answers: map[string]int{}, failures: []string{}}
}

func (t *tally) started() {
	t.unfinished.Add(1)
	t.mutex.Lock()
	t.open++
	t.mutex.Unlock()
}

func (t *tally) finished(answer []byte, err error) {
	t.mutex.Lock()
	t.open--
	if err != nil {
		s := status.Convert(err)
		t.failures = append(t.failures, fmt.Sprintf("%s: %s", s.Code(), s.Message()))
	} else {
		t.answers[string(answer)]++
	}
	t.mutex.Unlock()
	t.unfinished.Done()
}

func (t *tally) tell(event string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	report.Event(map[string]any{
		"event": event, "answers": t.answers, "failures": t.failures, "unfinished": t.open,
	})
	t.answers, t.failures = map[string]int{}, []string{}
}

// A client calls targets.
type client struct {
	connections map[string]*grpc.ClientConn
	tally       *tally
	halt        func()
}

func (c *client) connection(target string) *grpc.ClientConn {
	conn := c.connections[target]
	if conn == nil {
		var err error
		conn, err = grpc.NewClient(
			target,
			grpc.WithTransportCredentials(insecure.NewCredentials()),
			grpc.WithDefaultCallOptions(grpc.ForceCodec(raw.Codec{})),
		)
		if err != nil {
			report.Fail(err)
		}
		c.connections[target] = conn
	}
	return conn
}

func begin(conn *grpc.ClientConn, hold string, t *tally) {
	t.started()
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), deadline)
		defer cancel()
		var answer []byte
		err := conn.Invoke(ctx, raw.Method, []byte(hold), &answer)
		t.finished(answer, err)
	}()
}

func (c *client) call(target string, count int, hold string) {
	conn, own := c.connection(target), newTally()
	for range count {
		begin(conn, hold, own)
		own.unfinished.Wait()
	}
	own.tell("called")
}

func (c *client) start(target string, every time.Duration, hold string) {
	conn := c.connection(target)
	halted, done := make(chan struct{}), make(chan struct{})
	c.halt = func() { close(halted); <-done }
	go func() {
		defer close(done)
		ticker := time.NewTicker(every)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				begin(conn, hold, c.tally)
			case <-halted:
				return
			}
		}
	}()
	report.Event(map[string]any{"event": "started"})
}

func (c *client) obey(words []string) {
	switch words[0] {
	case "call":
		c.call(words[1], number(words[2]), words[3])
	case "start":
		c.start(words[1], time.Duration(number(words[2]))*time.Millisecond, words[3])
	case "report":
		c.tally.tell("report")
	case "stop":
		c.halt()
		c.tally.unfinished.Wait()
		c.tally.tell("stopped")
	default:
		report.Fail(fmt.Errorf("no such command: %q", words[0]))
	}
}

func number(text string) int {
	n, err := strconv.Atoi(text)
	if err != nil {
		report.Fail(err)
	}
	return n
}

func main() {
	c := &client{connections: map[string]*grpc.ClientConn{}, tally: newTally(), halt: func() {}}
	report.Event(map[string]any{"event": "ready"})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		c.obey(strings.Fields(lines.Text()))
	}
}
