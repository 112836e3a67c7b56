package install_test

import "strings"

// mayWhatThePageSays binds each role of the table in docs/security.md to somebody, asks the API server about each cell, as
// that person, and compares.
func (w *world) mayWhatThePageSays() {
	w.Helper()
	out := w.follow("docs/security.md", "Roles")
	if answer := lastLine(out); answer != "yes" {
		w.Errorf("whoever was made a submitter may not submit: %s", answer)
	}
	roles, rows := table(w.read("docs/security.md"), "| may | ")
	namespace := w.newNamespace()
	var script strings.Builder
	for _, role := range roles {
		name := "taskonce-" + role
		if role == "view" || role == "edit" || role == "admin" {
			name = role
		}
		script.WriteString("kubectl create rolebinding " + role + " -n " + namespace + " --clusterrole=" + name + " --user=" + role + " >/dev/null\n")
	}
	script.WriteString("set +x\n")
	for _, row := range rows {
		for _, role := range roles {
			verb, resource, _ := strings.Cut(strings.Trim(row[0], "`"), " ")
			resource, subresource, _ := strings.Cut(resource, "/")
			script.WriteString("kubectl auth can-i " + verb + " " + resource + ".taskonce.dev --subresource=" + subresource + " -n " + namespace + " --as=" + role + " 2>/dev/null || true\n")
		}
	}
	_, answers, _ := strings.Cut(w.sh(script.String()), "+ set +x\n")
	said := strings.Fields(answers)
	if len(said) != len(rows)*len(roles) {
		w.Fatalf("%d answers to %d questions: %s", len(said), len(rows)*len(roles), answers)
	}
	for i, row := range rows {
		for j, role := range roles {
			if got, want := said[i*len(roles)+j], row[j+1]; got != want {
				w.Errorf("may %s %s? kubectl auth can-i says %s, and docs/security.md %s", role, row[0], got, want)
			}
		}
	}
}

// table returns the columns, but for the first one, and the rows of the table of a page that begins so.
func table(page, begin string) (columns []string, rows [][]string) {
	_, rest, _ := strings.Cut(page, "\n"+begin)
	head, rest, _ := strings.Cut(rest, "\n")
	columns = cells(head)
	for line := range strings.SplitSeq(rest, "\n") {
		if !strings.HasPrefix(line, "|") {
			break
		}
		if row := cells(line); !strings.HasPrefix(row[0], "---") {
			rows = append(rows, row)
		}
	}
	return columns, rows
}

func cells(line string) []string {
	all := strings.Split(strings.Trim(line, "| "), "|")
	for i := range all {
		all[i] = strings.TrimSpace(all[i])
	}
	return all
}

// lastLine is the last one that a script printed, and not the shell's own.
func lastLine(text string) (last string) {
	for line := range strings.SplitSeq(strings.TrimSpace(text), "\n") {
		if !strings.HasPrefix(line, "+ ") {
			last = line
		}
	}
	return last
}
