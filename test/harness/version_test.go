package harness

import "testing"

func TestTheVersionThatIsAskedForRuns(t *testing.T) {
	for _, tt := range []struct {
		asked, runs string
		same        bool
		reason      string
	}{
		{"v1.32.13", "v1.32.13", true, "it is the one"},
		{"v1.32.13", "v1.32.0", true, "what can be downloaded is some release of that minor version"},
		{"v1.32.13", "v1.32.4-eks-5d4a308", true, "vendors add a word"},
		{"v1.32.13", "v1.37.2", false, "it is another"},
		{"latest", "v1.37.2", false, "it is no version"},
	} {
		if err := sameMinor(tt.asked, tt.runs); (err == nil) != tt.same {
			t.Errorf("%s asked for, %s runs: %v; %s", tt.asked, tt.runs, err, tt.reason)
		}
	}
}
