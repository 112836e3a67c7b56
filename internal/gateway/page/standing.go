package page

import (
	"slices"
	"strings"
	"time"
)

// standing is how current what is known is: see View.
type standing struct {
	asOf             time.Time
	trouble, missing string
}

// stand puts together what the sources say. One that cannot be read at all, for want of a right in its namespace, does not
// keep the others from being shown; one that is being read for the first time does, for a moment.
func stand(sources []*source, now time.Time) standing {
	all := standing{asOf: now}
	var troubles, missing []string
	read := false
	for _, s := range sources {
		until, wrong := s.contact.asOf()
		said := inTheWay(s.namespace, wrong)
		if until.IsZero() && wrong != nil {
			missing = append(missing, said)
			continue
		}
		read = true
		if until.Before(all.asOf) {
			all.asOf = until
		}
		if said != "" {
			troubles = append(troubles, said)
		}
	}
	all.trouble, all.missing = sentences(troubles), sentences(missing)
	if !read && all.missing != "" {
		return standing{trouble: all.missing}
	}
	return all
}

// sentences says each once.
func sentences(said []string) string {
	slices.Sort(said)
	return strings.Join(slices.Compact(said), " ")
}
