// Package rpc exchanges messages of JSON-RPC 2.0 with the framing of the language
// server protocol: a header with Content-Length before each message.
package rpc

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/textproto"
	"strconv"
	"sync"
)

// MaxMessage is the largest message that is read, in bytes.
const MaxMessage = 16 << 20

// Message is a request, a notification or a response.
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *Error          `json:"error,omitempty"`
}

// The codes of errors.
const (
	InvalidParams  = -32602
	MethodNotFound = -32601
	InternalError  = -32603
	RequestFailed  = -32803
)

// Error is why a request failed.
type Error struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

// Error implements error.
func (e *Error) Error() string { return e.Message }

// Conn is a connection. Messages may be written by several goroutines, and read by
// one.
type Conn struct {
	reader *bufio.Reader
	mu     sync.Mutex
	writer io.Writer
}

// New returns a connection that reads from one stream and writes to another.
func New(r io.Reader, w io.Writer) *Conn { return &Conn{reader: bufio.NewReader(r), writer: w} }

// Read returns the next message; io.EOF when there is none left.
func (c *Conn) Read() (*Message, error) {
	header, err := textproto.NewReader(c.reader).ReadMIMEHeader()
	if err != nil {
		if errors.Is(err, io.EOF) && len(header) == 0 {
			return nil, io.EOF
		}
		return nil, fmt.Errorf("the header of a message: %w", err)
	}
	size, err := strconv.Atoi(header.Get("Content-Length"))
	if err != nil || size < 0 || size > MaxMessage {
		return nil, fmt.Errorf("a message has the Content-Length %q, at most %d bytes are read", header.Get("Content-Length"), MaxMessage)
	}
	body := make([]byte, size)
	if _, err := io.ReadFull(c.reader, body); err != nil {
		return nil, err
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, fmt.Errorf("a message is not JSON-RPC: %w", err)
	}
	return &m, nil
}

// Write sends a message.
func (c *Conn) Write(m *Message) error {
	m.Version = "2.0"
	body, err := json.Marshal(m)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err = fmt.Fprintf(c.writer, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}
