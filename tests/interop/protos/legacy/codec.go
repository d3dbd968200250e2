package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"reflect"

	"github.com/gogo/protobuf/proto"
)

// A message as it passes between the test and us. The value is the Go struct as JSON: names as in the
// .proto file, what is zero or empty left out, messages within only where they were sent.
type line struct {
	Type  string        `json:"type"`
	Bytes []byte        `json:"bytes"`
	Value proto.Message `json:"value,omitempty"`
	Error string        `json:"error,omitempty"`
}

func read(in io.Reader, out io.Writer) error {
	scanner := bufio.NewScanner(in)
	scanner.Buffer(nil, 64<<20)
	writer := bufio.NewWriter(out)
	defer writer.Flush()
	encoder := json.NewEncoder(writer)
	for scanner.Scan() {
		var l struct {
			Type  string
			Bytes []byte
		}
		if err := json.Unmarshal(scanner.Bytes(), &l); err != nil {
			return err
		}
		answer, err := readOne(l.Type, l.Bytes)
		if err != nil {
			return err
		}
		if err := encoder.Encode(answer); err != nil {
			return err
		}
	}
	return scanner.Err()
}

func readOne(name string, bytes []byte) (line, error) {
	t := proto.MessageType(name)
	if t == nil {
		return line{}, fmt.Errorf("no message type is named %s", name)
	}
	m := reflect.New(t.Elem()).Interface().(proto.Message)
	if err := proto.Unmarshal(bytes, m); err != nil {
		return line{Type: name, Error: err.Error()}, nil
	}
	again, err := proto.Marshal(m)
	return line{Type: name, Bytes: again, Value: m}, err
}
