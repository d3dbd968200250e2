// Command validation gives Istio's own verdict on ServiceEntries, WorkloadEntries, VirtualServices and
// DestinationRules.
//
// It reads one JSON object a line from standard input and answers each with one on standard output,
// in the same order. Any other trouble ends it with a message on standard error.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/hashicorp/go-multierror"
	"google.golang.org/protobuf/proto"
	networking "istio.io/api/networking/v1alpha3"
	"istio.io/istio/pkg/config"
	"istio.io/istio/pkg/config/schema/gvk"
	"istio.io/istio/pkg/config/validation"
)

// question is one object: its metadata, its spec in protobuf's wire format (base64 in JSON), and the
// same spec as a person would write it, if that is to be compared.
type question struct {
	Kind        string            `json:"kind"`
	Name        string            `json:"name"`
	Namespace   string            `json:"namespace"`
	Labels      map[string]string `json:"labels"`
	Annotations map[string]string `json:"annotations"`
	Spec        []byte            `json:"spec"`
	Written     json.RawMessage   `json:"written"`
}

// verdict is what Istio has to say, one text a complaint.
type verdict struct {
	Errors   []string `json:"errors"`
	Warnings []string `json:"warnings"`
	// Unlike says how the written spec differs from the other one; it is empty if it does not.
	Unlike string `json:"unlike"`
}

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "validation:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, out io.Writer) error {
	questions := json.NewDecoder(bufio.NewReader(in))
	buffered := bufio.NewWriter(out)
	answers := json.NewEncoder(buffered)
	for number := 1; ; number++ {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return buffered.Flush()
		} else if err != nil {
			return fmt.Errorf("object %d: %w", number, err)
		}
		answer, err := judge(q)
		if err != nil {
			return fmt.Errorf("object %d: %w", number, err)
		}
		if err := answers.Encode(answer); err != nil {
			return err
		}
	}
}

func judge(q question) (verdict, error) {
	cfg := config.Config{Meta: config.Meta{
		Name:        q.Name,
		Namespace:   q.Namespace,
		Labels:      q.Labels,
		Annotations: q.Annotations,
	}}
	var spec proto.Message
	var validate validation.ValidateFunc
	switch q.Kind {
	case "ServiceEntry":
		cfg.GroupVersionKind = gvk.ServiceEntry
		spec, validate = &networking.ServiceEntry{}, validation.ValidateServiceEntry
	case "WorkloadEntry":
		cfg.GroupVersionKind = gvk.WorkloadEntry
		spec, validate = &networking.WorkloadEntry{}, validation.ValidateWorkloadEntry
	case "VirtualService":
		cfg.GroupVersionKind = gvk.VirtualService
		spec, validate = &networking.VirtualService{}, validation.ValidateVirtualService
	case "DestinationRule":
		cfg.GroupVersionKind = gvk.DestinationRule
		spec, validate = &networking.DestinationRule{}, validation.ValidateDestinationRule
	default:
		return verdict{}, fmt.Errorf("no validation for kind %q", q.Kind)
	}
	if err := proto.Unmarshal(q.Spec, spec); err != nil {
		return verdict{}, err
	}
	cfg.Spec = spec
	warning, err := validate(cfg)
	return verdict{
		Errors:   texts(err),
		Warnings: texts(warning),
		Unlike:   compare(spec, q.Written),
	}, nil
}

// compare reads a written spec as Istio reads its YAML, and says how it differs.
func compare(spec proto.Message, written json.RawMessage) string {
	if written == nil {
		return ""
	}
	read := spec.ProtoReflect().New().Interface()
	if err := read.(json.Unmarshaler).UnmarshalJSON(written); err != nil {
		return err.Error()
	}
	if !proto.Equal(spec, read) {
		return fmt.Sprintf("written %v, sent %v", read, spec)
	}
	return ""
}

// texts takes apart what Istio joined: each text is one complaint.
func texts(err error) []string {
	out := []string{}
	if err == nil {
		return out
	}
	var several *multierror.Error
	if !errors.As(err, &several) {
		return append(out, err.Error())
	}
	for _, one := range several.Errors {
		out = append(out, texts(one)...)
	}
	return out
}
