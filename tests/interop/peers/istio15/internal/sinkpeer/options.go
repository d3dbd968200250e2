package sinkpeer

import (
	"flag"
	"regexp"
	"sort"
	"strings"

	"istio.io/istio/pkg/config/schema/collections"
	"istio.io/istio/pkg/mcp/sink"
	"istio.io/istio/pkg/mcp/testing/monitoring"
)

// Flags are the options that both sinks have.
type Flags struct {
	collections, id, refuse *string
	incremental             *bool
}

// NewFlags registers the options.
func NewFlags() *Flags {
	return &Flags{
		collections: flag.String("collections", "istio/networking/v1alpha3/serviceentries",
			"what to ask for, separated by commas; `pilot` stands for all that a Pilot asks for"),
		id:          flag.String("id", "interop-sink", "id of the sink node"),
		refuse:      flag.String("refuse", "", "refuse changes with a resource whose name matches this pattern"),
		incremental: flag.Bool("incremental", false, "ask for incremental changes"),
	}
}

// SinkOptions are the options of Istio's sink that follow.
func (f *Flags) SinkOptions() *sink.Options {
	holder := &Holder{}
	if *f.refuse != "" {
		holder.Refuse = regexp.MustCompile(*f.refuse)
	}
	var asked []sink.CollectionOptions
	for _, name := range f.names() {
		asked = append(asked, sink.CollectionOptions{Name: name, Incremental: *f.incremental})
	}
	return &sink.Options{
		CollectionOptions: asked, Updater: holder, ID: *f.id,
		Metadata: map[string]string{"purpose": "interop"}, Reporter: monitoring.NewInMemoryStatsContext(),
	}
}

func (f *Flags) names() []string {
	if *f.collections != "pilot" {
		return strings.Split(*f.collections, ",")
	}
	// The same set that a Pilot makes its sink of.
	all := collections.Pilot.Remove(collections.IstioNetworkingV1Alpha3SyntheticServiceentries)
	var names []string
	for _, schema := range all.All() {
		names = append(names, schema.Name().String())
	}
	sort.Strings(names)
	return names
}
