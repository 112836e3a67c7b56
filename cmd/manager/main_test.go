package main

import (
	"os"
	"os/exec"
	"testing"
)

// TestAReaderThatIsGoneDoesNotEndTheProcess runs main with a standard output that nobody reads any more.
func TestAReaderThatIsGoneDoesNotEndTheProcess(t *testing.T) {
	if os.Getenv("MAIN_WITHOUT_READER") != "" {
		os.Args = []string{"manager", "--version"} // which is written there
		main()
		return
	}
	reader, writer, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer writer.Close()
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$") //nolint:gosec // this test
	again.Env, again.Stdout = append(os.Environ(), "MAIN_WITHOUT_READER=yes"), writer
	if err := again.Run(); err != nil {
		t.Errorf("it ended with %v", err)
	}
}
