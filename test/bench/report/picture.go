package report

import (
	"fmt"
	"math"
	"strings"
)

// The colours of sides are told apart by who cannot tell red from green, and read on light and dark pages.
var colours = map[string]string{Operator: "#3b7dd8", Bare: "#9aa5b1", Jobs: "#d9822b"}

const (
	pictureWidth = 720
	barHeight    = 16
	labelWidth   = 190
	panelMargin  = 34
)

// panel is a group of bars with one scale.
type panel struct {
	title string
	unit  string
	bars  []bar
}

type bar struct {
	label, side string
	value       float64
}

// Picture draws what a reader wants to see first, as SVG: rates, latency and processor time, beside those who do the same.
func (r Results) Picture() string {
	var body strings.Builder
	y := 10
	for _, p := range r.panels() {
		if len(p.bars) == 0 {
			continue
		}
		y = p.draw(&body, y)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" font-family="sans-serif" font-size="12" fill="#6b7785">
%s</svg>
`, pictureWidth, y, pictureWidth, body.String())
}

func (r Results) panels() []panel {
	rate := panel{title: "Submissions to Success, or Jobs to completion, a second", unit: "/s"}
	for _, name := range []string{Single, Busy, Saturated} {
		for _, side := range []string{Operator, Bare} {
			rate.add(name, side, r.Median(SectionRate, name, side, PerSecond))
		}
	}
	rate.add("all at once", Operator, r.Median(SectionPeer, AtOnce, Operator, PerSecond))
	rate.add("all at once", Jobs, r.Median(SectionPeer, AtOnce, Jobs, PerSecond))
	gentle := panel{title: "From create to the end, at 10 a second: p50", unit: " ms"}
	gentle.add("", Operator, r.Median(SectionGentle, TenASec, Operator, P50))
	gentle.add("", Bare, r.Median(SectionGentle, TenASec, Bare, P50))
	gentle.add("", Jobs, r.Median(SectionPeer, TenASec, Jobs, P50))
	cpu := panel{title: "Processor time of everything for one", unit: " ms"}
	cpu.add("32 clients", Operator, r.Median(SectionRate, Busy, Operator, CPUOfAll))
	cpu.add("32 clients", Bare, r.Median(SectionRate, Busy, Bare, CPUOfAll))
	cpu.add("all at once", Operator, r.Median(SectionPeer, AtOnce, Operator, CPUOfAll))
	cpu.add("all at once", Jobs, r.Median(SectionPeer, AtOnce, Jobs, CPUOfAll))
	return []panel{rate, gentle, cpu}
}

func (p *panel) add(label, side string, value float64) {
	if !math.IsNaN(value) {
		p.bars = append(p.bars, bar{label, side, value})
	}
}

// draw draws the panel from y on and returns where it ends.
func (p *panel) draw(out *strings.Builder, y int) int {
	most := 0.0
	for _, b := range p.bars {
		most = max(most, b.value)
	}
	fmt.Fprintf(out, "<text x=\"0\" y=\"%d\" font-weight=\"bold\">%s</text>\n", y+8, p.title)
	y += 18
	for _, b := range p.bars {
		width := int(math.Round((pictureWidth - labelWidth - 90) * b.value / most))
		fmt.Fprintf(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>", labelWidth-8, y+12, strings.TrimPrefix(b.label+", "+b.side, ", "))
		fmt.Fprintf(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"%s\"/>", labelWidth, y+1, width, barHeight-2, colours[b.side])
		fmt.Fprintf(out, "<text x=\"%d\" y=\"%d\">%s%s</text>\n", labelWidth+width+6, y+12, number(b.value), p.unit)
		y += barHeight
	}
	return y + panelMargin - barHeight
}
