// xds-client subscribes to Istio's configuration over xDS, state of the world or delta, with the
// types of go-control-plane and istio.io/api. It reports each response as a JSON object on a line
// of standard output, ACKs it (or NACKs it where -refuse says so), and opens a lost stream again
// with what it holds.
//
// It takes commands, one a line, on standard input: `reconnect`; `subscribe TYPE NAME...`;
// `unsubscribe TYPE NAME...`.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"time"

	core "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/genproto/googleapis/rpc/status"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
)

// Options of a client, from the command line.
type options struct {
	types  []string
	names  []string
	node   *core.Node
	refuse *regexp.Regexp
}

// A command from standard input.
type command struct {
	verb, typeURL string
	names         []string
}

// A client of one variant. It runs one stream until that ends; what it holds outlives the stream.
type client interface {
	run(ctx context.Context, ads discovery.AggregatedDiscoveryServiceClient, commands <-chan command) error
}

const retryDelay = 200 * time.Millisecond

func main() {
	address := flag.String("address", "", "host:port of the server")
	mode := flag.String("mode", "delta", "sotw or delta")
	types := flag.String("types", "networking.istio.io/v1/ServiceEntry", "type URLs, separated by commas")
	names := flag.String("names", "", "names to subscribe to, separated by commas; none: all (the wildcard)")
	id := flag.String("node", "sidecar~127.0.0.1~probe.interop~interop.svc.cluster.local", "node id")
	refuse := flag.String("refuse", "", "NACK responses with a resource whose name matches this pattern")
	flag.Parse()

	chosen := options{types: strings.Split(*types, ","), node: &core.Node{Id: *id, UserAgentName: "xds-client"}}
	if *names != "" {
		chosen.names = strings.Split(*names, ",")
	}
	if *refuse != "" {
		chosen.refuse = regexp.MustCompile(*refuse)
	}
	var peer client
	switch *mode {
	case "sotw":
		peer = newSotw(chosen)
	case "delta":
		peer = newDelta(chosen)
	default:
		fail(fmt.Errorf("-mode is sotw or delta, not %q", *mode))
	}
	connection, err := grpc.NewClient(*address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		fail(err)
	}
	ads := discovery.NewAggregatedDiscoveryServiceClient(connection)
	commands := readCommands()
	for {
		ctx, cancel := context.WithCancel(context.Background())
		err := peer.run(ctx, ads, commands)
		cancel()
		report(map[string]any{"event": "stream-end", "error": fmt.Sprint(err)})
		time.Sleep(retryDelay)
	}
}

func readCommands() <-chan command {
	commands := make(chan command)
	go func() {
		lines := bufio.NewScanner(os.Stdin)
		for lines.Scan() {
			words := strings.Fields(lines.Text())
			switch {
			case len(words) == 1 && words[0] == "reconnect":
				commands <- command{verb: words[0]}
			case len(words) > 2 && (words[0] == "subscribe" || words[0] == "unsubscribe"):
				commands <- command{verb: words[0], typeURL: words[1], names: words[2:]}
			default:
				fail(fmt.Errorf("not a command: %q", lines.Text()))
			}
		}
	}()
	return commands
}

// Refusal is the error_detail of a NACK, or nil.
func (o options) refusal(names []string) *status.Status {
	if o.refuse == nil {
		return nil
	}
	for _, name := range names {
		if o.refuse.MatchString(name) {
			return &status.Status{Code: int32(codes.InvalidArgument), Message: "refused on request: " + name}
		}
	}
	return nil
}

func report(event map[string]any) {
	if err := json.NewEncoder(os.Stdout).Encode(event); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}
