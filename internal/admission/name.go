package admission

import (
	"gomodules.xyz/jsonpatch/v2"

	"github.com/taskonce/taskonce/api/v1alpha1"
)

// giveName gives a submission without a name the one that belongs to its key, in place of generateName, which would
// give the same action a new name each time. What has a name is never renamed: a create by server-side apply would be
// stored under the name of its address, with another one inside. Where the key is none, nothing is given: the checks say
// so.
func giveName(submission *v1alpha1.TaskSubmission) []jsonpatch.Operation {
	if submission.Name != "" {
		return nil
	}
	name, err := v1alpha1.NameForKey(submission.Spec.IdempotencyKey)
	if err != nil {
		return nil
	}
	patches := []jsonpatch.Operation{jsonpatch.NewOperation("add", "/metadata/name", name)}
	if submission.GenerateName != "" {
		patches = append(patches, jsonpatch.NewOperation("remove", "/metadata/generateName", nil))
	}
	submission.Name, submission.GenerateName = name, ""
	return patches
}
