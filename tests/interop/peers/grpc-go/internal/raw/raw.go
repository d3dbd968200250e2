// Package raw sends messages as the bytes they are, so that an echo needs no generated code.
package raw

import "fmt"

// Method is what the echo server answers; it answers any other as well.
const Method = "/pinnace.interop.Echo/Say"

// Codec takes []byte to send and *[]byte to receive.
type Codec struct{}

// Marshal gives the bytes themselves.
func (Codec) Marshal(v any) ([]byte, error) {
	bytes, ok := v.([]byte)
	if !ok {
		return nil, fmt.Errorf("cannot send a %T", v)
	}
	return bytes, nil
}

// Unmarshal keeps a copy: the buffer is used again.
func (Codec) Unmarshal(data []byte, v any) error {
	bytes, ok := v.(*[]byte)
	if !ok {
		return fmt.Errorf("cannot receive a %T", v)
	}
	*bytes = append([]byte(nil), data...)
	return nil
}

// Name as grpc wants it: on the wire it is application/grpc+raw, which servers here take for granted.
func (Codec) Name() string { return "raw" }
