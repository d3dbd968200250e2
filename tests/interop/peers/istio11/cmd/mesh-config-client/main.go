// mesh-config-client dials an AggregatedMeshConfigService with the MCP client that Istio 1.1 kept of
// Istio 1.0 and reports what it takes, one JSON object a line, on standard output.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"math"
	"os"
	"regexp"
	"strings"
	"sync"

	"github.com/gogo/protobuf/jsonpb"
	"github.com/gogo/protobuf/proto"
	"google.golang.org/grpc"

	mcp "istio.io/api/mcp/v1alpha1"
	"istio.io/istio/pkg/log"
	"istio.io/istio/pkg/mcp/client"
	"istio.io/istio/pkg/mcp/sink"
	"istio.io/istio/pkg/mcp/testing/monitoring"

	// The client decodes each body by its registered name.
	_ "istio.io/api/networking/v1alpha3"
)

var (
	mutex   sync.Mutex
	encoder = json.NewEncoder(os.Stdout)
)

func report(event interface{}) {
	mutex.Lock()
	defer mutex.Unlock()
	if err := encoder.Encode(event); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, err)
	os.Exit(1)
}

// dialled reports each stream that Istio's client opens.
type dialled struct {
	mcp.AggregatedMeshConfigServiceClient
}

func (d dialled) StreamAggregatedResources(
	ctx context.Context, options ...grpc.CallOption,
) (mcp.AggregatedMeshConfigService_StreamAggregatedResourcesClient, error) {
	stream, err := d.AggregatedMeshConfigServiceClient.StreamAggregatedResources(ctx, options...)
	if err == nil {
		report(map[string]interface{}{"event": "stream-open"})
	}
	return stream, err
}

// change is the event of one response that the client decoded: what came, and what is held after it.
type change struct {
	Event      string     `json:"event"`
	Collection string     `json:"collection"`
	Version    string     `json:"version"`
	Resources  []resource `json:"resources"`
	// Held maps the name of each resource to its version.
	Held map[string]string `json:"held"`
	// Nack says why the change was refused, if it was.
	Nack string `json:"nack,omitempty"`
}

// resource is one object as the client decoded it.
type resource struct {
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	TypeURL  string          `json:"typeUrl"`
	Metadata json.RawMessage `json:"metadata"`
	Body     json.RawMessage `json:"body"`
}

// holder is a sink.Updater: it keeps what it is given and reports it.
type holder struct {
	refuse *regexp.Regexp
	held   map[string]map[string]string
}

// Apply implements sink.Updater. Istio's client calls it from one goroutine.
func (h *holder) Apply(given *sink.Change) error {
	event := change{
		Event: "change", Collection: given.Collection, Version: given.SystemVersionInfo,
		Resources: []resource{},
	}
	held := map[string]string{}
	for _, object := range given.Objects {
		name, version := object.Metadata.GetName(), object.Metadata.GetVersion()
		held[name] = version
		event.Resources = append(event.Resources, resource{
			Name: name, Version: version, TypeURL: object.TypeURL,
			Metadata: jsonOf(object.Metadata), Body: jsonOf(object.Body),
		})
		if h.refuse != nil && h.refuse.MatchString(name) {
			event.Nack = "refused on request: " + name
		}
	}
	if event.Nack == "" {
		h.held[given.Collection] = held
	}
	event.Held = h.held[given.Collection]
	report(event)
	if event.Nack != "" {
		return errors.New(event.Nack)
	}
	return nil
}

func jsonOf(message proto.Message) json.RawMessage {
	text, err := (&jsonpb.Marshaler{}).MarshalToString(message)
	if err != nil {
		fail(err)
	}
	return json.RawMessage(text)
}

func quietLog() {
	options := log.DefaultOptions()
	options.OutputPaths = []string{"stderr"}
	options.SetOutputLevel("default", log.ErrorLevel)
	options.SetOutputLevel("mcp", log.ErrorLevel)
	if err := log.Configure(options); err != nil {
		fail(err)
	}
}

func main() {
	address := flag.String("address", "", "host:port of the AggregatedMeshConfigService")
	types := flag.String("types", "type.googleapis.com/istio.networking.v1alpha3.ServiceEntry",
		"what to ask for, separated by commas: type URLs as Istio 1.0 does, or collections as 1.1 does")
	id := flag.String("id", "interop-client", "id of the sink node")
	refuse := flag.String("refuse", "", "refuse changes with a resource whose name matches this pattern")
	flag.Parse()
	quietLog()
	taker := &holder{held: map[string]map[string]string{}}
	if *refuse != "" {
		taker.refuse = regexp.MustCompile(*refuse)
	}
	connection, err := grpc.Dial(*address, grpc.WithInsecure(),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(math.MaxInt32)))
	if err != nil {
		fail(err)
	}
	asker := client.New(dialled{mcp.NewAggregatedMeshConfigServiceClient(connection)}, &sink.Options{
		CollectionOptions: sink.CollectionOptionsFromSlice(strings.Split(*types, ",")),
		Updater:           taker,
		ID:                *id,
		Metadata:          map[string]string{"purpose": "interop"},
		Reporter:          monitoring.NewInMemoryStatsContext(),
	})
	report(map[string]interface{}{"event": "asking", "types": asker.Collections()})
	asker.Run(context.Background())
}
