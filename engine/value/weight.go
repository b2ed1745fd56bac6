package value

// Weight is how many nodes a value has when it is written out. A part of an
// object of the read model counts as one, however large it is: objects are
// bounded by what the API server takes, and naming one costs nothing. What
// expressions and templates build counts in full, also where it names one part
// many times over: a short text could build a value that no memory holds.
func Weight(v Value) int {
	switch v := v.(type) {
	case *Map:
		return max(1, v.weight)
	case *List:
		return max(1, v.weight)
	}
	return 1
}

// maxWeight is where counting stops.
const maxWeight = 1 << 40

func weigh(parts []Value) int {
	sum := 1
	for _, p := range parts {
		sum += Weight(Unwrap(p))
	}
	return min(sum, maxWeight)
}
