// mcp-sink-client dials a ResourceSource with the sink of Istio 1.5.10 and reports what it takes.
package main

import (
	"context"
	"flag"
	"math"

	"google.golang.org/grpc"

	mcp "istio.io/api/mcp/v1alpha1"
	"istio.io/istio/pkg/mcp/sink"

	"pinnace.example/interop/istio15/internal/sinkpeer"
)

// dialled reports each stream that Istio's client opens.
type dialled struct{ mcp.ResourceSourceClient }

func (d dialled) EstablishResourceStream(
	ctx context.Context, options ...grpc.CallOption,
) (mcp.ResourceSource_EstablishResourceStreamClient, error) {
	stream, err := d.ResourceSourceClient.EstablishResourceStream(ctx, options...)
	if err == nil {
		sinkpeer.Report(map[string]interface{}{"event": "stream-open"})
	} else {
		sinkpeer.Report(map[string]interface{}{"event": "stream-refused", "error": err.Error()})
	}
	return stream, err
}

func main() {
	address := flag.String("address", "", "host:port of the ResourceSource")
	flags := sinkpeer.NewFlags()
	secure := newTLSFlags()
	flag.Parse()
	sinkpeer.QuietLog()
	connection, err := grpc.Dial(*address, secure.dialOption(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		sinkpeer.Fail(err)
	}
	client := sink.NewClient(dialled{mcp.NewResourceSourceClient(connection)}, flags.SinkOptions())
	sinkpeer.Report(map[string]interface{}{"event": "asking", "collections": client.Collections()})
	client.Run(context.Background())
}
