package calendar

import (
	"sync"
	"time"
	_ "time/tzdata" // images often have no files of time zones
)

// zones are the time zones that were asked for: reading one takes a file.
var zones = &cache{known: map[string]*time.Location{}}

// cache keeps time zones by name. There are about 600 names.
type cache struct {
	mu    sync.Mutex
	known map[string]*time.Location
}

func (c *cache) load(name string) (*time.Location, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if zone, ok := c.known[name]; ok {
		return zone, nil
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, err
	}
	c.known[name] = zone
	return zone, nil
}
