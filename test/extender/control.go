package extender

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
)

func (s *Server) putFault(w http.ResponseWriter, r *http.Request) {
	var fault Fault
	if !read(w, r, &fault) {
		return
	}
	if err := s.SetFault(fault); err != nil {
		refuse(w, err)
		return
	}
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) putCapacity(w http.ResponseWriter, r *http.Request) {
	var list capacities
	if !read(w, r, &list) {
		return
	}
	s.SetCapacity(list)
	w.WriteHeader(http.StatusNoContent)
}

func (s *Server) getState(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, s.State())
}

// ParseCapacity reads a JSON list of {name, thinPoolName, size, used}, sizes
// in bytes. A pool without a name or that is named twice is an error, as is a
// negative size.
func ParseCapacity(text []byte) (map[Pool]Capacity, error) {
	var list capacities
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("reading the capacity: %w", err)
	}
	return list, nil
}

// capacities decodes itself from a list.
type capacities map[Pool]Capacity

// UnmarshalJSON implements json.Unmarshaler.
func (c *capacities) UnmarshalJSON(text []byte) error {
	var list []PoolCapacity
	if err := json.Unmarshal(text, &list); err != nil {
		return err
	}
	*c = make(capacities, len(list))
	for i, item := range list {
		if err := c.add(item); err != nil {
			return fmt.Errorf("item %d: %w", i, err)
		}
	}
	return nil
}

func (c capacities) add(item PoolCapacity) error {
	_, twice := c[item.Pool]
	switch {
	case item.Name == "":
		return errors.New("name is empty")
	case item.Size < 0 || item.Used < 0:
		return errors.New("size and used must not be negative")
	case twice:
		return fmt.Errorf("%s %s is there twice", item.Name, item.ThinPool)
	}
	c[item.Pool] = item.Capacity
	return nil
}
