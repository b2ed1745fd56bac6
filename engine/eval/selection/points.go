package selection

// facts are the numbers that the points of a group follow from.
type facts [4]int64

// counts are the numbers of all groups, for each fact; nil where it is not asked for.
type counts [len(facts{})][]int32

// of returns the numbers of a group.
func (c *counts) of(group int32) (f facts) {
	for i, numbers := range c {
		if numbers != nil {
			f[i] = int64(numbers[group])
		}
	}
	return f
}

// only returns which fact is the only one that is asked for; -1 where there are others.
func (c *counts) only() int {
	at := -1
	for i, numbers := range c {
		switch {
		case numbers != nil && at >= 0:
			return -1
		case numbers != nil:
			at = i
		}
	}
	return at
}

// points sets the points of some groups.
func (c *counts) points(order []int32, compute func(facts) (int64, error), into []int64) (err error) {
	if at := c.only(); at >= 0 {
		return pointsBy(c[at], order, func(n int32) (int64, error) {
			var f facts
			f[at] = int64(n)
			return compute(f)
		}, into)
	}
	var known folded
	for _, group := range order {
		if into[group], err = known.points(c.of(group), compute); err != nil {
			return err
		}
	}
	return nil
}

// pointsBy is points where they follow from one number of each group, which mostly is
// small.
func pointsBy(numbers, order []int32, compute func(n int32) (int64, error), into []int64) (err error) {
	var known [maxKinds]struct {
		points int64
		is     bool
	}
	for _, group := range order {
		n := numbers[group]
		if n < maxKinds && known[n].is {
			into[group] = known[n].points
			continue
		}
		if into[group], err = compute(n); err != nil {
			return err
		}
		if n < maxKinds {
			known[n].points, known[n].is = into[group], true
		}
	}
	return nil
}

// folded keeps the points of each kind of group. There are few kinds: groups
// of one candidate, of two.
type folded []struct {
	facts  facts
	points int64
}

func (k *folded) points(f facts, compute func(facts) (int64, error)) (int64, error) {
	for i := range *k {
		if (*k)[i].facts == f {
			return (*k)[i].points, nil
		}
	}
	points, err := compute(f)
	if err == nil && len(*k) < maxKinds {
		*k = append(*k, struct {
			facts  facts
			points int64
		}{f, points})
	}
	return points, err
}

// maxKinds is how many kinds of groups are told apart before their points are
// computed each time.
const maxKinds = 64
