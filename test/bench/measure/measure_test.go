package measure

import (
	"errors"
	"testing"
	"time"
)

// fake counts what is asked of it.
type fake struct {
	prepared, run int
	most          int
	err           error
	kept          []byte
}

func (f *fake) Prepare(n int) error {
	if n > f.most {
		return errors.New("too many operations")
	}
	f.prepared += n
	return nil
}

func (f *fake) Run(int) error {
	f.run++
	f.kept = make([]byte, 1000)
	for range 1000 {
		for i := range f.kept {
			f.kept[i]++
		}
	}
	return f.err
}

func (f *fake) Max() int { return f.most }

// TestTwo: both sides run what was prepared for them, not more than they can prepare,
// and their allocations are counted.
func TestTwo(t *testing.T) {
	t.Parallel()
	a, b := &fake{most: 7}, &fake{most: 9}
	fa, fb, err := Two(3, a, b)
	if err != nil {
		t.Fatal(err)
	}
	for _, side := range []*fake{a, b} {
		if side.run == 0 || side.run != side.prepared {
			t.Errorf("%d operations were prepared, and %d run", side.prepared, side.run)
		}
	}
	if fa.Batch > 7 || fb.Batch > 9 {
		t.Errorf("batches of %d and %d", fa.Batch, fb.Batch)
	}
	for _, f := range []Figures{fa, fb} {
		if f.Min <= 0 || f.Median < f.Min || f.Max < f.Median || f.Allocs < 1 || f.Bytes < 1000 {
			t.Errorf("%+v", f)
		}
	}
}

// TestErrors: an operation that fails ends the measurement.
func TestErrors(t *testing.T) {
	t.Parallel()
	want := errors.New("failed")
	if _, _, err := Two(1, &fake{most: 5}, &fake{most: 5, err: want}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
	if _, err := One(1, &fake{most: 5, err: want}); !errors.Is(err, want) {
		t.Errorf("got %v", err)
	}
}

func TestMedian(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		samples []float64
		want    Figures
	}{
		"odd":  {[]float64{3, 1, 2}, Figures{Min: 1, Median: 2, Max: 3}},
		"even": {[]float64{4, 1, 2, 3}, Figures{Min: 1, Median: 2.5, Max: 4}},
		"one":  {[]float64{5}, Figures{Min: 5, Median: 5, Max: 5}},
	} {
		var got Figures
		if got.from(tc.samples); got != tc.want {
			t.Errorf("%s: %+v", name, got)
		}
	}
}

// assisted is a side whose operations contain work of others.
type assisted struct {
	fake
	apart time.Duration
}

func (a *assisted) Apart() time.Duration { return a.apart }

// TestAssisted: what others have taken is not counted.
func TestAssisted(t *testing.T) {
	t.Parallel()
	if alone := of(&fake{}); alone <= 0 {
		t.Errorf("a side by itself has used %v", alone)
	}
	if used := of(&assisted{apart: 1000 * time.Hour}); used > -999*time.Hour {
		t.Errorf("the work of others counts: %v", used)
	}
}

// clearing is a side that must be cleared after each batch.
type clearing struct {
	fake
	full    bool
	cleared int
}

func (c *clearing) Prepare(n int) error {
	if c.full {
		return errors.New("the last batch was not cleared")
	}
	c.full = true
	return c.fake.Prepare(n)
}

func (c *clearing) Clear() { c.full, c.cleared = false, c.cleared+1 }

// TestClearing: what a batch has made is gone before the other side is measured.
func TestClearing(t *testing.T) {
	t.Parallel()
	a, b := &clearing{fake: fake{most: 3}}, &clearing{fake: fake{most: 3}}
	if _, _, err := Two(3, a, b); err != nil {
		t.Fatal(err)
	}
	for _, side := range []*clearing{a, b} {
		if side.full || side.cleared < 4 { // the three rounds, and what calibrates
			t.Errorf("cleared %d times, full: %v", side.cleared, side.full)
		}
	}
}
