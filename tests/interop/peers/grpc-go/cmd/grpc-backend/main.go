// grpc-backend NAME=HOST:PORT... answers every unary gRPC call on each address with its NAME, after as
// many milliseconds as the request's text says. It takes commands on standard input: `close NAME` ends
// one listener and its connections at once, as a machine that goes away.
package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"pinnace.example/interop/grpc-go/internal/raw"
	"pinnace.example/interop/grpc-go/internal/report"
)

func main() {
	servers := map[string]*grpc.Server{}
	for _, arg := range os.Args[1:] {
		name, address, ok := strings.Cut(arg, "=")
		if !ok {
			report.Fail(fmt.Errorf("%q is not NAME=HOST:PORT", arg))
		}
		listener, err := net.Listen("tcp", address)
		if err != nil {
			report.Fail(err)
		}
		server := grpc.NewServer(
			grpc.ForceServerCodec(raw.Codec{}),
			grpc.UnknownServiceHandler(answer(name)),
		)
		servers[name] = server
		go func() {
			if err := server.Serve(listener); err != nil {
				report.Fail(err)
			}
		}()
	}
	report.Event(map[string]any{"event": "ready"})
	lines := bufio.NewScanner(os.Stdin)
	for lines.Scan() {
		words := strings.Fields(lines.Text())
		if len(words) != 2 || words[0] != "close" || servers[words[1]] == nil {
			report.Fail(fmt.Errorf("no such command: %q", lines.Text()))
		}
		servers[words[1]].Stop()
		report.Event(map[string]any{"event": "closed", "name": words[1]})
	}
}

func answer(name string) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		var request []byte
		if err := stream.RecvMsg(&request); err != nil {
			return err
		}
		hold, err := strconv.Atoi(string(request))
		if err != nil {
			return status.Error(codes.InvalidArgument, err.Error())
		}
		select {
		case <-time.After(time.Duration(hold) * time.Millisecond):
		case <-stream.Context().Done():
			return stream.Context().Err()
		}
		return stream.SendMsg([]byte(name))
	}
}
