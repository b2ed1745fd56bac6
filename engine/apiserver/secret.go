package apiserver

import (
	"encoding/base64"
	"maps"
)

// StoredSecret returns a Secret of a manifest as it is read back if it has stringData: with
// the texts in data, and with a type. Any other is returned as it is.
func StoredSecret(given Object) Object {
	if given["stringData"] == nil {
		return given
	}
	out := maps.Clone(given)
	if data, ok := out["data"].(Object); ok {
		out["data"] = maps.Clone(data)
	}
	secret(out)
	return out
}

// secret does what kube-apiserver does in code with each Secret that is written: it moves
// the texts of stringData to data, so that nobody reads them back as texts, and sets the
// type.
func secret(o Object) {
	setDefault(o, "type", "Opaque")
	texts, _ := o["stringData"].(Object)
	delete(o, "stringData")
	if len(texts) == 0 {
		return
	}
	data, _ := o["data"].(Object)
	if data == nil {
		data = Object{}
		o["data"] = data
	}
	for key, v := range texts {
		if s, ok := v.(string); ok {
			data[key] = base64.StdEncoding.EncodeToString([]byte(s))
		}
	}
}
