package report

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"text/template"
)

//go:embed scale.md.tmpl
var page string

// Page writes docs/scale.md.
func (r Results) Page() (string, error) {
	tables := map[string]block{}
	for _, b := range r.blocks() {
		tables[b.name] = b
	}
	functions := template.FuncMap{
		"table":    func(name string) (string, error) { return markdown(tables, name) },
		"measured": r.measured,
		"noise":    r.noise,
		"missed":   r.missed,
		"bigness": func() string {
			return number(r.BareSize(SubmissionBytes)) + " and " + number(r.BareSize(RecordBytes))
		},
		"share": func() string { return percent(r.Median(SectionRate, Busy, Operator, ManagerShare)) },
	}
	t, err := template.New("scale.md").Funcs(functions).Parse(page)
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = t.Execute(&out, nil)
	return out.String(), err
}

func markdown(tables map[string]block, name string) (string, error) {
	b, ok := tables[name]
	if !ok {
		return "", fmt.Errorf("there is no table %q", name)
	}
	if len(b.rows) == 0 {
		return b.title + ": not measured yet.", nil
	}
	var out strings.Builder
	fmt.Fprintf(&out, "%s:\n\n", b.title)
	line := func(cells []string) { fmt.Fprintf(&out, "| %s |\n", strings.Join(cells, " | ")) }
	line(b.head)
	line(slices.Repeat([]string{"---"}, len(b.head)))
	for _, row := range b.rows {
		line(row)
	}
	return strings.TrimSuffix(out.String(), "\n"), nil
}

// measured says where and when.
func (r Results) measured() string {
	versions := map[string]map[string]bool{}
	for _, section := range r {
		m := section.Machine
		where := fmt.Sprintf("on %s on %d processors (%s), built with %s", m.Date, m.Processors, m.Model, m.Go)
		if versions[where] == nil {
			versions[where] = map[string]bool{}
		}
		versions[where][m.Version] = true
	}
	var parts []string
	for _, where := range sortedKeys(versions) {
		parts = append(parts, where+", version "+strings.Join(sortedKeys(versions[where]), ", "))
	}
	return strings.Join(parts, "; ")
}

// noise is what part of the processors others used, at worst, while rates, latency and processor time were measured.
func (r Results) noise() string {
	most := 0.0
	for _, section := range r {
		for _, comparison := range section.Comparisons {
			for _, pair := range comparison.Pairs {
				for _, s := range pair.Sides {
					if s.Seconds > 0 {
						most = max(most, s.CPU[Others]/s.Seconds/float64(section.Machine.Processors))
					}
				}
			}
		}
	}
	return number(100*most) + " %"
}

// missed lists the goals that were missed, with what their profiles say.
func (r Results) missed() (lines []string) {
	for _, g := range r.Goals() {
		if g.State == "missed" {
			lines = append(lines, fmt.Sprintf("%s: %s, and the goal is %s. %s", g.Text, g.Value, g.Target, g.Why))
		}
	}
	return lines
}
