package main

import (
	"testing"

	"github.com/edict-dev/edict/test/bench/byhand"
)

// patches makes one patch of a replica.
func patches(t *testing.T, body string) []byhand.Write {
	t.Helper()
	return []byhand.Write{{Kind: "ReplicatedVolumeReplica", Name: "volume-0", Body: []byte(body)}}
}
