package informers

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/edict-dev/edict/engine/readmodel"
	"github.com/edict-dev/edict/engine/schema"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/engine/world"
)

// eventsOf returns the events of a watch, and how it ends.
func eventsOf(from io.Reader, by kruntime.Framer, s kruntime.Serializer) (out []string) {
	decoder := streaming.NewDecoder(by.NewFrameReader(io.NopCloser(from)), s)
	for {
		var event metav1.WatchEvent
		if _, _, err := decoder.Decode(nil, &event); err != nil {
			return append(out, endOf(err))
		}
		out = append(out, event.Type+" "+string(event.Object.Raw))
	}
}

func endOf(err error) string {
	for _, known := range []error{io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, known) {
			return known.Error()
		}
	}
	return "wrong"
}

// TestFrames: however a watch arrives, its events are those that the API machinery
// finds in it.
func TestFrames(t *testing.T) {
	t.Parallel()
	long := fmt.Sprintf(`{"type":"MODIFIED","object":{"data":%q}}`, strings.Repeat(`x"}]\`, frameSize))
	theirs := json.NewSerializerWithOptions(json.DefaultMetaFactory, plain, plain, json.SerializerOptions{})
	for _, text := range []string{
		"", "\n", `{"type":"ADDED","object":{}}`, `{"type":"ADDED","object":{"a":1}}` + "\n" + `{"type":"DELETED","object":{"a":[{"b":"\\\"}"}, 2]}}` + "\n",
		` {"type":"ADDED","object":{"a":"ä{\\"}} {"object":{"b":"[\""},"more":[[1]],"type":"BOOKMARK"}`, long, long + long + "\n\r\t " + long,
		`{"type":"ADDED","object":{"a":1}`, `{"type":"ADDED","object":{"a":"`, `{"type":"ADDED","object":{"a":"\`, `{"type":"ADDED","object":{}}x`, `]`, `"a"`,
		`{"type":"ADDED"}{"object":{}}{}`, `{"type":"ADDED","object":{"a":1},"more":{}}`, `{"more":[{}],"type":"ADDED","object":{"a":1}}`, `{"type":"ADDED","object":[{}]}`,
		"{\n  \"type\": \"ADDED\",\n  \"object\": {\n    \"a\": []\n  }\n}\n", `{"type":"BOOKMARK","object":{}}{"type":"ERROR","object":{"kind":"Status"}}{"type":"OTHER","object":{}}`, `{"type":"ADDED" "object":{}}`, `{"type":7,"object":{}}`,
	} {
		want := fmt.Sprint(eventsOf(strings.NewReader(text), json.Framer, theirs))
		for name, from := range map[string]io.Reader{
			"at once": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)),
			"in halves": iotest.HalfReader(strings.NewReader(text)), "with its end": iotest.DataErrReader(strings.NewReader(text)),
		} {
			watch := &frames{}
			got := fmt.Sprint(eventsOf(from, watch, envelopes{theirs, watch}))
			if strings.HasSuffix(want, "wrong]") && strings.HasSuffix(got, io.ErrUnexpectedEOF.Error()+"]") {
				continue // what is wrong is found later
			}
			if got != want {
				t.Errorf("%.80s, %s: got %.200s, want %.200s", text, name, got, want)
			}
		}
	}
}

// TestFramesMakeRoom: an event may be of any length, and a watch does not keep the room
// for a long one.
func TestFramesMakeRoom(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	sizes := []int{1, 3 * frameSize, 5, 40 * frameSize, 2 * frameSize, 7}
	for _, n := range sizes {
		fmt.Fprintf(&text, "{\"type\":\"ADDED\",\"object\":{%q:1}}\n", strings.Repeat("x", n))
	}
	var watch frames
	watch.NewFrameReader(io.NopCloser(strings.NewReader(text.String())))
	buffer := make([]byte, 1)
	for _, n := range sizes {
		if _, err := watch.Read(buffer); err != nil || len(watch.last.object) != n+len(`{"":1}`) {
			t.Fatalf("%d bytes: got %d, %v", n, len(watch.last.object), err)
		}
	}
	if cap(watch.buffer) != frameSize {
		t.Errorf("the room is %d bytes, want %d", cap(watch.buffer), frameSize)
	}
	if _, err := watch.Read(buffer); !errors.Is(err, io.EOF) {
		t.Errorf("got %v at the end", err)
	}
}

// TestFramesFail: an error of the connection is that of the watch.
func TestFramesFail(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	from := io.MultiReader(strings.NewReader(`{"type":"ADDED","object":{}}{"a`), iotest.ErrReader(broken))
	var watch frames
	watch.NewFrameReader(io.NopCloser(from))
	buffer := make([]byte, 100)
	if _, err := watch.Read(buffer); err != nil || watch.last.kind != "ADDED" || string(watch.last.object) != "{}" {
		t.Errorf("got %v, %v", watch.last, err)
	}
	if _, err := watch.Read(buffer); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// BenchmarkFrames reads events as they come from a watch of replicas.
func BenchmarkFrames(b *testing.B) {
	text := []byte(fmt.Sprintf(`{"type":"MODIFIED","object":{"metadata":{"managedFields":[%s]}}}`, strings.Repeat(`{"f:spec":{"f:name":{}}},`, 80)+"1"))
	theirs := json.NewSerializerWithOptions(json.DefaultMetaFactory, plain, plain, json.SerializerOptions{})
	watch := &frames{}
	for name, s := range map[string]kruntime.StreamSerializerInfo{"own": {Framer: watch, Serializer: envelopes{theirs, watch}}, "api machinery": {Framer: json.Framer, Serializer: theirs}} {
		b.Run(name, func(b *testing.B) {
			decoder := streaming.NewDecoder(s.Framer.NewFrameReader(io.NopCloser(&endless{text: text})), s.Serializer)
			for b.Loop() {
				var got metav1.WatchEvent
				if _, _, err := decoder.Decode(nil, &got); err != nil || !bytes.HasPrefix(got.Object.Raw, []byte(`{"metadata"`)) {
					b.Fatal(err)
				}
			}
		})
	}
}

// endless is a text again and again.
type endless struct {
	text []byte
	at   int
}

func (e *endless) Read(into []byte) (int, error) {
	n := copy(into, e.text[e.at:])
	e.at = (e.at + n) % len(e.text)
	return n, nil
}

// TestDecodedEvent: what an event took is given back as soon as its object is decoded, not
// with the next event.
func TestDecodedEvent(t *testing.T) {
	t.Parallel()
	objects := &readmodel.Decoder{
		Source: world.Source{GVK: schema.GVK{APIVersion: "example.com/v1", Kind: "Widget"}}, Mask: value.KeepAll,
		Known: func(_, _ []byte) *world.Object { return nil },
	}
	info := Serializer(objects).SupportedMediaTypes()[0]
	watch, long := info.StreamSerializer.Framer.(*frames), strings.Repeat("x", 3*frameSize)
	object := strings.Replace(widget("a", "7"), `"a":1`, `"a":"`+long+`"`, 1)
	body := io.NopCloser(strings.NewReader(`{"type":"ADDED","object":` + object + "}\n"))
	decoder := restwatch.NewDecoder(streaming.NewDecoder(watch.NewFrameReader(body), info.StreamSerializer.Serializer), info.Serializer)
	kind, o, err := decoder.Decode()
	if err != nil {
		t.Fatal(err)
	}
	if got := ObjectOf(o).Value.Lookup("spec").(*value.Map).Lookup("a"); kind != "ADDED" || got.Value() != long {
		t.Errorf("%s: got %.20v", kind, got)
	}
	if cap(watch.buffer) != frameSize || watch.last.object != nil {
		t.Errorf("the watch keeps %d bytes, and the event %.20s", cap(watch.buffer), watch.last.object)
	}
}
