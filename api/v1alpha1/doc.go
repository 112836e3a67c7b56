// Package v1alpha1 holds the kinds of the group taskonce.dev: what clients import. Beside the kinds it has
// the rules that a client must share with the operator: the name that a key gives (NameForKey), how a key is
// built from parts (Key), and how payloads and results are digested (Digest).
//
// +kubebuilder:object:generate=true
// +groupName=taskonce.dev
package v1alpha1
