package main

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// The picture's measures, in pixels: those of a dashboard's grid, and of a panel.
const (
	gridColumn, gridRow = 50, 22
	margin              = 10
	titleHeight         = 24
	legendWidth         = 0.42
	legendLine          = 12
)

// colours are those of lines and bars, one after another.
var colours = []string{"#3274d9", "#e0752d", "#56a64b", "#a352cc", "#e02f44", "#1f9fb3", "#b88a00", "#7c8591"}

// picture draws the dashboard as it looks after the run.
func (r *Report) picture() string {
	var all strings.Builder
	height := 0
	for i := range r.Panels {
		panel := &r.Panels[i]
		height = max(height, (panel.GridPos.Y+panel.GridPos.H)*gridRow)
		panel.draw(&all)
	}
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %[1]d %[2]d" font-family="Helvetica, Arial, sans-serif" font-size="10.5">
<rect width="%[1]d" height="%[2]d" fill="#f4f5f5"/>
%[3]s</svg>
`, 24*gridColumn, height, all.String())
}

// draw draws one panel, or the line above a row of them.
func (s *Shown) draw(all *strings.Builder) {
	x, y := s.GridPos.X*gridColumn, s.GridPos.Y*gridRow
	if s.Type == "row" {
		text(all, x+margin, y+16, "#24292e", "bold", "start", s.Title)
		return
	}
	w, h := s.GridPos.W*gridColumn, s.GridPos.H*gridRow
	fmt.Fprintf(all, `<rect x="%d" y="%d" width="%d" height="%d" rx="3" fill="#ffffff" stroke="#dce0e4"/>`+"\n", x+3, y+3, w-6, h-6)
	text(all, x+margin, y+20, "#24292e", "bold", "start", s.Title)
	plot := frame{x: float64(x + margin), y: float64(y + titleHeight + 14), w: float64(w)*(1-legendWidth) - 2*margin, h: float64(h - titleHeight - 28)}
	s.plot(all, plot)
	left, right, at := x+int(float64(w)*(1-legendWidth)), x+w-margin, y+titleHeight+14
	for i, answer := range s.seen() {
		fmt.Fprintf(all, `<rect x="%d" y="%d" width="9" height="9" fill="%s"/>`, left, at-8, colour(i))
		text(all, left+14, at, "#464c54", "normal", "start", answer.Legend)
		text(all, right, at, "#24292e", "bold", "end", s.number(answer.Value))
		at += legendLine
	}
}

// seen are the answers that say something, as many as there is room for.
func (s *Shown) seen() (all []Answer) {
	for _, answer := range s.Answers {
		if answer.Value != 0 && !math.IsNaN(answer.Value) && len(all) < 11 {
			all = append(all, answer)
		}
	}
	return all
}

// frame is where a plot is drawn.
type frame struct{ x, y, w, h float64 }

func (s *Shown) plot(all *strings.Builder, in frame) {
	answers := s.seen()
	first, last, top := s.extent(answers)
	fmt.Fprintf(all, `<path d="M%.1f %.1fh%.1f" stroke="#c7ccd1"/>`, in.x, in.y+in.h, in.w)
	if last <= first || top == 0 {
		return
	}
	at := func(ms int64) float64 { return in.x + 5 + (in.w-10)*float64(ms-first)/float64(last-first) }
	up := func(value float64) float64 { return in.y + in.h*(1-value/top) }
	below := map[int64]float64{}
	for i, answer := range answers {
		if s.bars() {
			for _, sample := range answer.Course {
				ms, value := int64(sample.Timestamp), float64(sample.Value)
				fmt.Fprintf(all, `<rect x="%.1f" y="%.1f" width="%.1f" height="%.1f" fill="%s"/>`,
					at(ms)-4, up(below[ms]+value), 8.0, in.h*value/top, colour(i))
				below[ms] += value
			}
			continue
		}
		var line []string
		for _, sample := range answer.Course {
			if value := float64(sample.Value); !math.IsNaN(value) {
				line = append(line, fmt.Sprintf("%.1f,%.1f", at(int64(sample.Timestamp)), up(value)))
			}
		}
		fmt.Fprintf(all, `<polyline points="%s" fill="none" stroke="%s" stroke-width="1.6"/>`, strings.Join(line, " "), colour(i))
	}
	text(all, int(in.x), int(in.y)-4, "#8e9297", "normal", "start", s.number(top))
	all.WriteString("\n")
}

// extent returns the first and the last moment of a plot, and its highest value.
func (s *Shown) extent(answers []Answer) (first, last int64, top float64) {
	first, stacks := math.MaxInt64, map[int64]float64{}
	for _, answer := range answers {
		for _, sample := range answer.Course {
			ms, value := int64(sample.Timestamp), float64(sample.Value)
			if math.IsNaN(value) {
				continue
			}
			first, last = min(first, ms), max(last, ms)
			if s.bars() {
				stacks[ms] += value
				value = stacks[ms]
			}
			top = max(top, value)
		}
	}
	return first, last, top
}

func colour(i int) string { return colours[i%len(colours)] }

func text(all *strings.Builder, x, y int, fill, weight, anchor, say string) {
	fmt.Fprintf(all, `<text x="%d" y="%d" fill="%s" font-weight="%s" text-anchor="%s">%s</text>`+"\n", x, y, fill, weight, anchor, html.EscapeString(say))
}
