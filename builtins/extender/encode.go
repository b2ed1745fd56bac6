package extender

import (
	"encoding/json"
	"strconv"
)

// body returns a request as it is sent: as encoding/json writes it, in one pass.
func (r *scoreRequest) body() []byte {
	size := 128 + len(r.ReservationID)
	for i := range r.Pools {
		size += len(r.Pools[i].Name) + len(r.Pools[i].ThinPool) + len(`{"name":"","thinPoolName":""},`)
	}
	out := make([]byte, 0, size)
	out = appendText(append(out, `{"reservationID":`...), r.ReservationID)
	out = appendText(append(out, `,"reservationTTL":`...), r.TTL)
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
	out = appendText(append(out, `{"name":`...), p.Name)
	if p.ThinPool != "" {
		out = appendText(append(out, `,"thinPoolName":`...), p.ThinPool)
	}
	return append(out, '}')
}

// appendText appends a text as a string of JSON. Names of groups need no escapes;
// whatever does is left to encoding/json.
func appendText(out []byte, text string) []byte {
	for i := range len(text) {
		if c := text[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			escaped, err := json.Marshal(text)
			if err != nil { // cannot be: a string has a JSON form
				return append(out, `""`...)
			}
			return append(out, escaped...)
		}
	}
	return append(append(append(out, '"'), text...), '"')
}
