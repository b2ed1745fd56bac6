package informers

import "sync"

// rooms are buffers for long events that no watch is using.
var rooms sync.Pool

// takeRoom returns an empty buffer for at least so many bytes.
func takeRoom(size int) []byte {
	if room, ok := rooms.Get().(*[]byte); ok && cap(*room) >= size {
		return (*room)[:0]
	}
	return make([]byte, 0, size)
}

// giveRoom gives a buffer back.
func giveRoom(room []byte) { rooms.Put(&room) }
