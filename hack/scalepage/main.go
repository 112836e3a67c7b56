// Command scalepage writes docs/scale.md and its picture from what the bench measured.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/taskonce/taskonce/test/bench/report"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: scalepage FOLDER-OF-SAMPLES FOLDER-OF-DOCUMENTS")
		os.Exit(2)
	}
	if err := write(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "scalepage:", err)
		os.Exit(1)
	}
}

func write(samples, documents string) error {
	results, err := report.Read(samples)
	if err != nil {
		return err
	}
	page, err := results.Page()
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(documents, "scale.md"), []byte(page), 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(documents, "scale.svg"), []byte(results.Picture()), 0o600)
}
