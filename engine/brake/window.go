package brake

import "time"

// slots is how many parts a window is counted in: its end is exact to one of
// them.
const slots = 60

// window counts what happened within a sliding window of time.
type window struct {
	width  time.Duration
	counts [slots]int64
	// at is the number of the newest slot, counted from the epoch.
	at  int64
	sum int64
}

// resize begins again when the width is another one.
func (w *window) resize(width time.Duration) {
	if w.width != width {
		*w = window{width: width}
	}
}

func (w *window) slot(now time.Time) int64 { return now.UnixNano() / max(1, int64(w.width)/slots) }

// count returns what is in the window now.
func (w *window) count(now time.Time) int64 {
	at := w.slot(now)
	if at-w.at >= slots {
		w.counts, w.sum, w.at = [slots]int64{}, 0, at
	}
	for w.at < at {
		w.at++
		w.sum -= w.counts[w.at%slots]
		w.counts[w.at%slots] = 0
	}
	return w.sum
}

// add counts n at an instant; a negative n takes back what was counted there.
func (w *window) add(at time.Time, n int64) {
	w.count(at)
	slot := w.slot(at)
	if w.at-slot >= slots {
		return // it has left the window
	}
	n = max(n, -w.counts[slot%slots])
	w.counts[slot%slots] += n
	w.sum += n
}
