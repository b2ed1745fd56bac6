package extender

import (
	"strconv"

	"github.com/edict-dev/edict/engine/value"
)

// body returns a request as it is sent: as encoding/json writes it, in one pass.
func (r *scoreRequest) body() []byte {
	size := 128 + len(r.ReservationID)
	for i := range r.Pools {
		size += len(r.Pools[i].Name) + len(r.Pools[i].ThinPool) + len(`{"name":"","thinPoolName":""},`)
	}
	out := make([]byte, 0, size)
	out = value.AppendText(append(out, `{"reservationID":`...), r.ReservationID)
	out = value.AppendText(append(out, `,"reservationTTL":`...), r.TTL)
	out = strconv.AppendInt(append(out, `,"size":`...), r.Size, 10)
	out = append(out, `,"lvgs":[`...)
	for i := range r.Pools {
		if i > 0 {
			out = append(out, ',')
		}
		out = r.Pools[i].appendTo(out)
	}
	return append(out, "]}"...)
}

func (p *pool) appendTo(out []byte) []byte {
	out = value.AppendText(append(out, `{"name":`...), p.Name)
	if p.ThinPool != "" {
		out = value.AppendText(append(out, `,"thinPoolName":`...), p.ThinPool)
	}
	return append(out, '}')
}
