package byhand

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// Score is how much room a volume group or thin pool has.
type Score struct {
	VolumeGroupRef
	Score int64 `json:"score"`
}

// Extender knows the room of volume groups.
type Extender interface {
	// FilterAndScore returns the scores of those with room, and reserves it.
	FilterAndScore(ctx context.Context, reservation string, size int64, groups []VolumeGroupRef) ([]Score, error)
	// NarrowReservation keeps the reservation in one of them only.
	NarrowReservation(ctx context.Context, reservation string, group VolumeGroupRef) error
}

// The reservation times that are sent.
const (
	scoreTTL  = 2 * time.Second
	narrowTTL = time.Minute
)

// ExtenderClient asks an extender over HTTP.
type ExtenderClient struct {
	http *http.Client
	url  string
}

// NewExtenderClient makes a client; a request takes at most 10 seconds.
func NewExtenderClient(url string, transport http.RoundTripper) *ExtenderClient {
	return &ExtenderClient{http: &http.Client{Timeout: 10 * time.Second, Transport: transport}, url: url}
}

type scoreRequest struct {
	ReservationID  string           `json:"reservationID"`
	ReservationTTL string           `json:"reservationTTL"`
	Size           int64            `json:"size"`
	Groups         []VolumeGroupRef `json:"lvgs"`
}

type scoreResponse struct {
	Groups []Score `json:"lvgs"`
}

type narrowRequest struct {
	ReservationID  string         `json:"reservationID"`
	ReservationTTL string         `json:"reservationTTL"`
	Group          VolumeGroupRef `json:"lvg"`
}

// FilterAndScore implements Extender.
func (c *ExtenderClient) FilterAndScore(ctx context.Context, reservation string, size int64, groups []VolumeGroupRef) ([]Score, error) {
	if len(groups) == 0 {
		return nil, errors.New("no LVGs provided for query")
	}
	var out scoreResponse
	err := c.post(ctx, "/v1/lvg/filter-and-score", scoreRequest{
		ReservationID: reservation, ReservationTTL: scoreTTL.String(), Size: size, Groups: groups,
	}, &out)
	return out.Groups, err
}

// NarrowReservation implements Extender.
func (c *ExtenderClient) NarrowReservation(ctx context.Context, reservation string, group VolumeGroupRef) error {
	return c.post(ctx, "/v1/lvg/narrow-reservation", narrowRequest{
		ReservationID: reservation, ReservationTTL: narrowTTL.String(), Group: group,
	}, nil)
}

// post sends a request, and decodes the answer into out, unless it is nil.
func (c *ExtenderClient) post(ctx context.Context, path string, in, out any) error {
	body, err := json.Marshal(in)
	if err != nil {
		return err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+path, bytes.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(request)
	if err != nil {
		return fmt.Errorf("scheduler-extender request failed: %w", err)
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("scheduler-extender returned unexpected status %d", response.StatusCode)
	}
	if out == nil {
		return nil
	}
	if err := json.NewDecoder(response.Body).Decode(out); err != nil {
		return fmt.Errorf("unable to decode scheduler-extender response: %w", err)
	}
	return nil
}
