package informers

// rooms are buffers for long events that no watch is using: a few for all watches. They
// are not left to the garbage collector, since a list that changes every few seconds, with
// collections in between, would need new ones each time.
var rooms = make(chan []byte, 2)

// takeRoom returns an empty buffer for at least so many bytes.
func takeRoom(size int) []byte {
	select {
	case room := <-rooms:
		if cap(room) >= size {
			return room[:0]
		}
	default:
	}
	return make([]byte, 0, size)
}

// giveRoom gives a buffer back.
func giveRoom(room []byte) {
	select {
	case rooms <- room:
	default:
	}
}
