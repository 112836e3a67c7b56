package setting_test

import (
	"bufio"
	"encoding/json"
	"flag"
	"log"
	"os"
	"testing"

	"k8s.io/klog/v2"
	logf "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/taskonce/taskonce/internal/setting"
)

// TestAllIsLoggedInOneFormat: a collector that reads JSON gets no line of a library in between.
func TestAllIsLoggedInOneFormat(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = write
	defer func() { os.Stderr = stderr }()

	l := &setting.Log{}
	flags := flag.NewFlagSet("", flag.ContinueOnError)
	l.Register(flags)
	if err := flags.Parse(nil); err != nil {
		t.Fatal(err)
	}
	l.Install()
	logf.Log.Info("ours")
	klog.Warning("of client-go")
	log.Print("http: TLS handshake error")
	if err := write.Close(); err != nil {
		t.Fatal(err)
	}
	var messages []string
	for lines := bufio.NewScanner(read); lines.Scan(); {
		var line struct{ Msg string }
		if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
			t.Errorf("a line is not JSON: %s", lines.Text())
		}
		messages = append(messages, line.Msg)
	}
	if len(messages) != 3 {
		t.Errorf("logged are %q, want three lines", messages)
	}
}
