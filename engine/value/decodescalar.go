package value

import (
	"time"

	"github.com/google/cel-go/common/types"

	"github.com/edict-dev/edict/engine/scan"
)

func (d *decoder) string(at *spot, was known) (Value, error) {
	raw, plain, err := d.Text()
	switch {
	case err != nil:
		return nil, err
	case !plain || at.time:
		return d.parsed(raw, plain, at, was)
	case isString(was.before, raw):
		return was.before, nil
	case isString(was.like, raw):
		at.fresh = 0
		return was.like, nil
	}
	return d.bulk.string(raw, &at.fresh), nil
}

func isString(v Value, raw []byte) bool {
	s, ok := v.(types.String)
	return ok && string(s) == string(raw)
}

// parsed makes the value of a text that does not stand for itself.
func (d *decoder) parsed(raw []byte, plain bool, at *spot, was known) (Value, error) {
	for _, known := range [...]Value{was.before, was.like} {
		if now, ok := known.(types.Timestamp); ok && plain && at.time && isText(now, raw) {
			return known, nil
		}
	}
	text, err := scan.Unquote(raw, plain)
	if err != nil {
		return nil, err
	}
	out := freezeString(text, at.t, at.time)
	if now, ok := out.(types.Timestamp); ok {
		if before, ok := was.before.(types.Timestamp); ok && before.Time.Equal(now.Time) {
			return was.before, nil
		}
	}
	return out, nil
}

// isText reports whether a text is that of a time, as the API server writes it, of a
// field that held this time before.
func isText(was types.Timestamp, raw []byte) bool {
	var text [len(time.RFC3339) + len("-10000")]byte
	return string(was.AppendFormat(text[:0], time.RFC3339)) == string(raw)
}

func (d *decoder) digits(at *spot, before Value) (Value, error) {
	whole, fraction, isWhole, err := d.Number()
	if err != nil {
		return nil, err
	}
	out := Value(nil)
	if isWhole {
		out = integer(whole, at.t)
	} else {
		out = freezeNumber(fraction, at.t)
	}
	if before != nil && before == out {
		return before, nil
	}
	return out, nil
}
