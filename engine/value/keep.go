package value

// Keep returns a copy of decoded JSON with what a mask keeps of it: what Freeze
// would make of it, as plain values.
func Keep(raw any, mask *Mask) any {
	switch v := raw.(type) {
	case map[string]any:
		out := map[string]any{}
		for name, field := range v {
			if under := mask.field(name); field != nil && under != nil {
				out[name] = Keep(field, under)
			}
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, item := range v {
			out[i] = Keep(item, mask.item())
		}
		return out
	default:
		return raw
	}
}
