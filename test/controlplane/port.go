package controlplane

import (
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are chosen below Linux's range for outgoing connections (32768 and up).
// A port of that range could be taken by any connection, of this process too,
// between choosing and listening, or while the API server is down for a fault.
const (
	firstPort = 16384
	lastPort  = 32767
)

// FreePort finds a port on 127.0.0.1 that nobody listens on, and that no outgoing
// connection takes while the process that is to listen there is down.
func FreePort() (string, error) {
	for range 100 {
		port := strconv.Itoa(firstPort + rand.IntN(lastPort-firstPort+1))
		listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			continue
		}
		return port, listener.Close()
	}
	return "", errors.New("found no free port on 127.0.0.1")
}
