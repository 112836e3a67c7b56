package main

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"strings"
	"testing"

	"github.com/prometheus/common/model"
)

// TestPictureShowsEveryPanel: it can be read, and each panel is there with its answers, but for those that say nothing.
func TestPictureShowsEveryPanel(t *testing.T) {
	panels, err := readDashboard()
	if err != nil {
		t.Fatal(err)
	}
	report := &Report{}
	for _, panel := range panels {
		report.Panels = append(report.Panels, Shown{Panel: panel, Answers: []Answer{
			{Legend: "many <b>", Value: 3, Course: []model.SamplePair{{Timestamp: 1000, Value: 1}, {Timestamp: 2000, Value: 3}}},
			{Legend: "none", Value: 0}, {Legend: "nothing", Value: math.NaN()},
		}})
	}
	picture := report.picture()
	for decoder := xml.NewDecoder(strings.NewReader(picture)); ; {
		if _, err := decoder.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
	for _, panel := range panels {
		if title := strings.ReplaceAll(panel.Title, "'", "&#39;"); !strings.Contains(picture, title) {
			t.Errorf("%q is not in it", panel.Title)
		}
	}
	if strings.Contains(picture, ">none<") || strings.Contains(picture, ">nothing<") || !strings.Contains(picture, "many &lt;b&gt;") {
		t.Error("it does not show what says something, and that alone")
	}
}

// TestExpectations: what differs is said, and what is zero need not be there.
func TestExpectations(t *testing.T) {
	expected := expectation{}
	expected.add(2, "template", "award", "found", "success")
	expected.add(1, "template", "book", "found", "success")
	expected.add(0, "template", "book", "found", "failed")
	if got := expected.by("found"); len(got) != 1 || got["found=success"] != 3 {
		t.Errorf("by found: %v", got)
	}
	if got := expected.differences("x", expectation{"found=success,template=award": 2, "found=success,template=book": 1}); len(got) != 0 {
		t.Errorf("equal ones differ: %q", got)
	}
	if got := expected.differences("x", expectation{"found=success,template=award": 2, "found=success,template=slow": 1}); len(got) != 2 {
		t.Errorf("what is missing, and what is too much: %q", got)
	}
}
