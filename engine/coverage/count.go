package coverage

// ByPolicy groups points by their policies.
func ByPolicy(points []Point) (out [][]Point) {
	for i, p := range points {
		if i == 0 || points[i-1].Policy != p.Policy {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], p)
	}
	return out
}

// Count returns how many of the outcomes of some points have come about.
func Count(points []Point) (covered, total int) {
	for i := range points {
		total += len(points[i].Outcomes)
		covered += len(points[i].Outcomes) - len(points[i].Missing())
	}
	return covered, total
}

// PerCent is Count as a share; 100 of nothing.
func PerCent(points []Point) float64 {
	covered, total := Count(points)
	if total == 0 {
		return 100
	}
	return 100 * float64(covered) / float64(total)
}
