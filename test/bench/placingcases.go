package main

// steady places a new volume while its pool is as it was.
type steady struct{ *placing }

func (s steady) Prepare(n int) error {
	if err := s.begin(n, false); err != nil {
		return err
	}
	for _, v := range s.volumes {
		if err := putAll(s.sys, v...); err != nil {
			return err
		}
	}
	return nil
}

func (s steady) Run(i int) error { return s.place(s.sys, i) }

// changed takes in that one node of the pool has changed and a new volume, and places
// it.
type changed struct{ *placing }

func (c changed) Prepare(n int) error { return c.begin(n, false) }

func (c changed) Run(i int) error {
	if _, err := c.sys.put(c.change()); err != nil {
		return err
	}
	v := c.volumes[i]
	if err := putAll(c.sys, v...); err != nil {
		return err
	}
	if err := c.place(c.sys, i); err != nil {
		return err
	}
	return removeAll(c.sys, v...)
}

// cold takes in the pool and the first volume after a start, and places it.
type cold struct{ *placing }

func (c cold) Prepare(n int) (err error) {
	if err := c.begin(n, false); err != nil {
		return err
	}
	c.fresh = make([]system, n)
	for i := range c.fresh {
		if c.fresh[i], err = c.make(); err != nil {
			return err
		}
	}
	return nil
}

func (c cold) Run(i int) error {
	if _, err := c.fresh[i].put(c.pools[0]); err != nil {
		return err
	}
	if err := putAll(c.fresh[i], c.volumes[i]...); err != nil {
		return err
	}
	err := c.place(c.fresh[i], i)
	c.fresh[i] = nil
	return err
}

// firstVolume places the first volume after a start: the pool and the volume were taken in
// before.
type firstVolume struct{ cold }

// manySystems bounds the systems of a batch that have their objects already.
const manySystems = 16

func (firstVolume) Max() int { return manySystems }

func (f firstVolume) Prepare(n int) error {
	if err := f.cold.Prepare(n); err != nil {
		return err
	}
	for i, sys := range f.fresh {
		if err := putAll(sys, append(f.volumes[i], f.pools[0])...); err != nil {
			return err
		}
	}
	return nil
}

func (f firstVolume) Run(i int) error {
	err := f.place(f.fresh[i], i)
	f.fresh[i] = nil
	return err
}

// manyVolumes bounds the volumes of a batch whose volumes are placed.
const manyVolumes = 512

// placedFirst looks at a placed volume for the first time.
type placedFirst struct{ *placing }

func (p placedFirst) Max() int { return manyVolumes }

func (p placedFirst) Prepare(n int) error {
	if err := p.begin(n, true); err != nil {
		return err
	}
	for _, v := range p.volumes {
		if err := putAll(p.sys, v...); err != nil {
			return err
		}
	}
	return nil
}

func (p placedFirst) Run(i int) error { return p.settled(i) }

// placedAgain looks at a placed volume again, though nothing has changed.
type placedAgain struct{ *placing }

const fewVolumes = 64

func (p placedAgain) Prepare(int) error {
	if len(p.volumes) > 0 {
		return nil
	}
	if err := placedFirst(p).Prepare(fewVolumes); err != nil {
		return err
	}
	for i := range p.volumes {
		if err := p.settled(i); err != nil {
			return err
		}
	}
	return nil
}

func (p placedAgain) Run(i int) error { return p.settled(i % fewVolumes) }

// placedChanged looks at placed volumes after a node of their pool has changed on
// which none of them is. The event itself is not measured: it is one for all.
type placedChanged struct{ *placing }

func (p placedChanged) Max() int { return manyVolumes }

func (p placedChanged) Prepare(n int) error {
	if err := placedFirst(p).Prepare(n); err != nil {
		return err
	}
	if _, err := p.sys.put(p.pools[0]); err != nil {
		return err
	}
	for i := range p.volumes {
		if err := p.settled(i); err != nil {
			return err
		}
	}
	woken, err := p.sys.put(p.pools[1])
	p.woken = woken
	return err
}

func (p placedChanged) Run(i int) error { return p.settled(i) }

// Woken returns how many of the placed volumes were woken.
func (p placedChanged) Woken() int { return p.woken }
