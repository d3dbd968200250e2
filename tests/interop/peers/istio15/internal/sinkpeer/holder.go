package sinkpeer

import (
	"encoding/json"
	"errors"
	"regexp"
	"sync"

	"github.com/gogo/protobuf/jsonpb"
	"github.com/gogo/protobuf/proto"

	"istio.io/istio/pkg/mcp/sink"

	// The sink decodes each body by its registered name.
	_ "istio.io/api/networking/v1alpha3"
)

// Change is the event of one response that the sink decoded: what came, and what is held after it.
type Change struct {
	Event       string     `json:"event"`
	Collection  string     `json:"collection"`
	Version     string     `json:"version"`
	Incremental bool       `json:"incremental"`
	Resources   []Resource `json:"resources"`
	Removed     []string   `json:"removed"`
	// Held maps the name of each resource to its version.
	Held map[string]string `json:"held"`
	// Nack says why the change was refused, if it was.
	Nack string `json:"nack,omitempty"`
}

// Resource is one object as the sink decoded it.
type Resource struct {
	Name     string          `json:"name"`
	Version  string          `json:"version"`
	TypeURL  string          `json:"typeUrl"`
	Metadata json.RawMessage `json:"metadata"`
	Body     json.RawMessage `json:"body"`
}

// Holder is a sink.Updater: it keeps what it is given and reports it.
type Holder struct {
	// Refuse makes the holder refuse every change with a resource whose name matches.
	Refuse *regexp.Regexp

	mutex sync.Mutex
	held  map[string]map[string]string
}

// Apply implements sink.Updater.
func (h *Holder) Apply(change *sink.Change) error {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	event := Change{
		Event: "change", Collection: change.Collection, Version: change.SystemVersionInfo,
		Incremental: change.Incremental, Resources: []Resource{}, Removed: append([]string{}, change.Removed...),
	}
	held := map[string]string{}
	if change.Incremental {
		for name, version := range h.held[change.Collection] {
			held[name] = version
		}
		for _, name := range change.Removed {
			delete(held, name)
		}
	}
	for _, object := range change.Objects {
		name := object.Metadata.GetName()
		held[name] = object.Metadata.GetVersion()
		event.Resources = append(event.Resources, Resource{
			Name: name, Version: object.Metadata.GetVersion(), TypeURL: object.TypeURL,
			Metadata: jsonOf(object.Metadata), Body: jsonOf(object.Body),
		})
		if h.Refuse != nil && h.Refuse.MatchString(name) {
			event.Nack = "refused on request: " + name
		}
	}
	if event.Nack == "" {
		if h.held == nil {
			h.held = map[string]map[string]string{}
		}
		h.held[change.Collection] = held
	}
	event.Held = h.held[change.Collection]
	Report(event)
	if event.Nack != "" {
		return errors.New(event.Nack)
	}
	return nil
}

func jsonOf(message proto.Message) json.RawMessage {
	text, err := (&jsonpb.Marshaler{}).MarshalToString(message)
	if err != nil {
		Fail(err)
	}
	return json.RawMessage(text)
}
