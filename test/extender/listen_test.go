package extender_test

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	builtin "github.com/edict-dev/edict/builtins/extender"
	"github.com/edict-dev/edict/engine/expr"
	"github.com/edict-dev/edict/engine/value"
	"github.com/edict-dev/edict/test/extender"
)

// listen starts a server over TLS that ends with the test.
func listen(t *testing.T) *extender.Running {
	t.Helper()
	running, err := extender.ListenTLS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := running.Close(); err != nil {
			t.Error(err)
		}
	})
	return running
}

// clientOf makes a client with the generated certificates.
func clientOf(t *testing.T, running *extender.Running, config builtin.Config) *builtin.Client {
	t.Helper()
	config.URL, config.CAFile = running.URL, running.CAFile
	config.CertFile, config.KeyFile = running.ClientCertFile, running.ClientKeyFile
	client, err := builtin.New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	return client
}

func question(query string, places ...string) *expr.Request {
	request := &expr.Request{Query: query, With: value.FromMap(map[string]value.Value{
		"reservationID": value.OfString("x"), "ttl": value.OfDuration(time.Minute), "size": value.OfInt(10),
	})}
	var candidates []*value.Map
	for _, place := range places {
		p := at(place)
		candidates = append(candidates, value.FromMap(map[string]value.Value{
			"name": value.OfString(p.Name), "thinPoolName": value.OfString(p.ThinPool),
		}))
	}
	request.Candidates = expr.CandidatesOf(candidates...)
	return request
}

// TestClientAndServer: a selection asks and confirms over TLS with client
// certificates.
func TestClientAndServer(t *testing.T) {
	t.Parallel()
	running := listen(t)
	running.Server.SetCapacity(map[extender.Pool]extender.Capacity{at("a"): {Size: 100}, at("a/t"): {Size: 20}, at("full"): {Size: 10, Used: 5}})
	client := clientOf(t, running, builtin.Config{})
	got, err := client.Answer(t.Context(), question(builtin.FilterAndScore, "full", "a/t", "a", "unknown"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]expr.Verdict{expr.Dropped, expr.Kept(6), expr.Kept(6), expr.Dropped}, got.Verdicts); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if _, err := client.Answer(t.Context(), question(builtin.NarrowReservation, "a/t")); err != nil {
		t.Fatal(err)
	}
	state := running.Server.State()
	if len(state.Reservations) != 1 || !cmp.Equal(state.Reservations[0].Pools, []extender.Pool{at("a/t")}) {
		t.Errorf("reserved is %v", state.Reservations)
	}
}

// TestClientMeetsFaults: each fault is a failure of the right kind, or keeps
// nobody.
func TestClientMeetsFaults(t *testing.T) {
	t.Parallel()
	for mode, classes := range map[extender.Mode][2]builtin.Class{ // of scoring and of a confirmation; "" is none
		extender.Fail:       {builtin.ClassStatus, builtin.ClassStatus},
		extender.Stall:      {builtin.ClassTimeout, builtin.ClassTimeout},
		extender.Garbage:    {builtin.ClassDecode, ""},
		extender.Huge:       {builtin.ClassTooLarge, ""},
		extender.Lie:        {"", ""},
		extender.NarrowFail: {"", builtin.ClassStatus},
	} {
		t.Run(string(mode), func(t *testing.T) {
			t.Parallel()
			running := listen(t)
			if err := running.Server.SetFault(extender.Fault{Mode: mode}); err != nil {
				t.Fatal(err)
			}
			limit := 10 * time.Second
			if mode == extender.Stall {
				limit = 200 * time.Millisecond
			}
			client := clientOf(t, running, builtin.Config{Timeout: limit})
			for i, query := range []string{builtin.FilterAndScore, builtin.NarrowReservation} {
				got, err := client.Answer(t.Context(), question(query, "a"))
				failure, failed := errors.AsType[*builtin.Error](err)
				if failed != (classes[i] != "") || failed && failure.Class != classes[i] {
					t.Errorf("%s gives %v, want class %q", query, err, classes[i])
				}
				if !failed && i == 0 && !cmp.Equal(got.Verdicts, []expr.Verdict{expr.Dropped}) {
					t.Errorf("somebody stays: %v", got.Verdicts)
				}
			}
		})
	}
}

// TestStrangers: without a certificate nobody is answered.
func TestStrangers(t *testing.T) {
	t.Parallel()
	running := listen(t)
	client, err := builtin.New(builtin.Config{URL: running.URL, CAFile: running.CAFile})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(client.Close)
	_, err = client.Answer(t.Context(), question(builtin.FilterAndScore, "a"))
	if failure, ok := errors.AsType[*builtin.Error](err); !ok || failure.Class != builtin.ClassTLS {
		t.Errorf("got %v", err)
	}
}

// TestCloseReleases: the end of a server ends the requests that it holds, and
// is no answer to them.
func TestCloseReleases(t *testing.T) {
	t.Parallel()
	running, err := extender.ListenTLS(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	_ = running.Server.SetFault(extender.Fault{Mode: extender.Stall})
	client := clientOf(t, running, builtin.Config{})
	answered := make(chan error, 1)
	go func() {
		_, err := client.Answer(t.Context(), question(builtin.NarrowReservation, "a"))
		answered <- err
	}()
	for running.Server.State().Requests[extender.NarrowReservation] == 0 {
		<-time.After(time.Millisecond)
	}
	if err := running.Close(); err != nil {
		t.Error(err)
	}
	if failure, ok := errors.AsType[*builtin.Error](<-answered); !ok || failure.Class != builtin.ClassTransport {
		t.Errorf("got %v", failure)
	}
}

// TestFilesThatCannotBeUsed are named.
func TestFilesThatCannotBeUsed(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	files, err := extender.GenerateCertificates(dir)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "empty")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, with := range map[string]extender.TLS{
		"no files":               {},
		"not a certificate":      {CertFile: file, KeyFile: files.ServerKey},
		"no clients' authority":  {CertFile: files.ServerCert, KeyFile: files.ServerKey, ClientCAFile: file + ".absent"},
		"an empty one":           {CertFile: files.ServerCert, KeyFile: files.ServerKey, ClientCAFile: file},
		"a key of somebody else": {CertFile: files.ServerCert, KeyFile: files.ClientKey},
	} {
		if _, err := extender.Listen("127.0.0.1:0", with, extender.New(extender.Config{})); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if _, err := extender.ListenTLS(filepath.Join(file, "folder")); err == nil {
		t.Error("a folder below a file can be made")
	}
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	if _, err := extender.ListenGenerated(dir, taken.Addr().String(), extender.New(extender.Config{})); err == nil {
		t.Error("an address can be taken twice")
	}
}
