package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// openTestWire returns the address of a wire to an API server that counts writes, and whose watches send one line.
func openTestWire(t *testing.T) (x *wire, address string, writes *atomic.Int32) {
	t.Helper()
	writes = &atomic.Int32{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		if request.Method != http.MethodGet {
			writes.Add(1)
		}
		_, _ = io.WriteString(w, "hello\n")
		if request.URL.Query().Has("watch") {
			_ = http.NewResponseController(w).Flush()
			<-request.Context().Done()
		}
	}))
	t.Cleanup(server.Close)
	dir := t.TempDir()
	config := clientcmdapi.NewConfig()
	config.Clusters["test"] = &clientcmdapi.Cluster{Server: server.URL}
	config.Contexts["test"] = &clientcmdapi.Context{Cluster: "test"}
	config.CurrentContext = "test"
	rights := filepath.Join(dir, "rights")
	if err := clientcmd.WriteToFile(*config, rights); err != nil {
		t.Fatal(err)
	}
	x, err := openWire(rights, dir, "test")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.close() })
	mine, err := clientcmd.BuildConfigFromFlags("", x.kubeconfig)
	if err != nil {
		t.Fatal(err)
	}
	return x, mine.Host, writes
}

func TestWatchesAreCutAndNothingElse(t *testing.T) {
	x, address, _ := openTestWire(t)
	answer, err := http.Get(address + "/apis?watch=true")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	events := bufio.NewReader(answer.Body)
	if line, err := events.ReadString('\n'); err != nil || line != "hello\n" {
		t.Fatalf("%q, %v", line, err)
	}
	if n := x.cut(time.Hour); n != 1 {
		t.Errorf("%d watches were cut", n)
	}
	if line, err := events.ReadString('\n'); err == nil {
		t.Errorf("the watch goes on with %q", line)
	}
	if again, err := http.Get(address + "/apis?watch=true"); err == nil {
		again.Body.Close()
		t.Error("another watch began")
	}
	read, err := http.Get(address + "/apis")
	if err != nil {
		t.Fatal(err)
	}
	read.Body.Close()
}

func TestWritesHappenWhoseAnswersAreLost(t *testing.T) {
	x, address, writes := openTestWire(t)
	post := func(path string) error {
		answer, err := http.Post(address+path, "application/json", http.NoBody)
		if err == nil {
			answer.Body.Close()
		}
		return err
	}
	lost := x.loseAnswers(1)
	if err := post("/apis/coordination.k8s.io/v1/leases"); err != nil {
		t.Error("a lease was lost:", err)
	}
	if err := post("/apis/taskonce.dev/v1alpha1/taskrecords"); err == nil {
		t.Error("an answer came")
	}
	<-lost
	if err := post("/apis/taskonce.dev/v1alpha1/taskrecords"); err != nil {
		t.Error("one answer too many was lost:", err)
	}
	if n := writes.Load(); n != 3 {
		t.Errorf("%d writes happened", n)
	}
}
