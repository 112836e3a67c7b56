package report

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// Print prints everything for a person.
func (r Results) Print(out io.Writer) {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	for _, block := range r.blocks() {
		if len(block.rows) == 0 {
			continue
		}
		fmt.Fprintf(out, "\n%s\n\n", block.title)
		for _, row := range append([][]string{block.head}, block.rows...) {
			for _, cell := range row {
				fmt.Fprint(table, cell, "\t")
			}
			fmt.Fprintln(table)
		}
		_ = table.Flush()
	}
	for _, missed := range r.missed() {
		fmt.Fprintln(out, "Missed:", missed)
	}
	for _, fault := range r.Faults() {
		fmt.Fprintln(out, "WRONG:", fault)
	}
}
