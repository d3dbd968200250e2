package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math"

	discovery "github.com/envoyproxy/go-control-plane/envoy/service/discovery/v3"
	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/encoding/protojson"
)

// order is what standard input says: one of its fields.
type order struct {
	// Opens a stream, sotw or delta, in place of the one before.
	Open string `json:"open"`
	// Ends the stream.
	Lose bool `json:"lose"`
	// Sends a request on it, in protobuf's JSON.
	Request json.RawMessage `json:"request"`
	// Asks the service of one type, without a stream: the full name of a method that fetches.
	Fetch string `json:"fetch"`
}

// stream sends what standard input says and reports what comes; it acknowledges nothing by itself.
func stream(args []string) error {
	flags := flag.NewFlagSet("stream", flag.ExitOnError)
	address := flags.String("address", "", "host:port of the control plane")
	if err := flags.Parse(args); err != nil {
		return err
	}
	connection, err := grpc.NewClient(*address, grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		return err
	}
	ads := discovery.NewAggregatedDiscoveryServiceClient(connection)
	var opened int64
	var send func(json.RawMessage) error
	end := func() {}
	return commands(func(given order) error {
		if given.Fetch != "" {
			return fetch(connection, given)
		}
		if given.Lose {
			end()
			return nil
		}
		if given.Open == "" {
			return send(given.Request)
		}
		end()
		opened++
		ctx, cancel := context.WithCancel(context.Background())
		end = cancel
		var err error
		switch given.Open {
		case "sotw":
			send, err = openSotw(ctx, ads, opened)
		case "delta":
			send, err = openDelta(ctx, ads, opened)
		default:
			err = fmt.Errorf("a stream is sotw or delta, not %q", given.Open)
		}
		return err
	})
}

// fetch reports the answer as one of stream 0, or that stream's end.
func fetch(connection *grpc.ClientConn, given order) error {
	request := &discovery.DiscoveryRequest{}
	if err := protojson.Unmarshal(given.Request, request); err != nil {
		return err
	}
	response := &discovery.DiscoveryResponse{}
	if err := connection.Invoke(context.Background(), given.Fetch, request, response); err != nil {
		report(map[string]any{"event": "ended", "stream": 0, "error": err.Error()})
		return nil
	}
	reportSotw(0, response)
	return nil
}

func openSotw(ctx context.Context, ads discovery.AggregatedDiscoveryServiceClient, id int64) (func(json.RawMessage) error, error) {
	opened, err := ads.StreamAggregatedResources(ctx)
	if err != nil {
		return nil, err
	}
	go receive(id, opened, reportSotw)
	return func(text json.RawMessage) error {
		request := &discovery.DiscoveryRequest{}
		if err := protojson.Unmarshal(text, request); err != nil {
			return err
		}
		return sent(opened.Send(request))
	}, nil
}

func openDelta(ctx context.Context, ads discovery.AggregatedDiscoveryServiceClient, id int64) (func(json.RawMessage) error, error) {
	opened, err := ads.DeltaAggregatedResources(ctx)
	if err != nil {
		return nil, err
	}
	go receive(id, opened, reportDelta)
	return func(text json.RawMessage) error {
		request := &discovery.DeltaDiscoveryRequest{}
		if err := protojson.Unmarshal(text, request); err != nil {
			return err
		}
		return sent(opened.Send(request))
	}, nil
}

// sent forgives that the stream is over: its end is reported where it is received.
func sent(error) error { return nil }

func receive[Response any](id int64, from interface{ Recv() (Response, error) }, tell func(int64, Response)) {
	for {
		response, err := from.Recv()
		if err != nil {
			report(map[string]any{"event": "ended", "stream": id, "error": err.Error()})
			return
		}
		tell(id, response)
	}
}
