// Package install installs what is shipped, as its pages say: by manifest and by chart, with the real kubectl and the real
// helm, on a real API server with the real Deployment controller. There is no machine to run pods on, so the tests play the
// kubelet and the Services: the manager's process is what the pod says (its image's program, arguments, environment, mounts,
// user, and its own service account's token), in a root of its own that is mounted read-only, where that is permitted; and the
// API server reaches the webhooks by the Service, through a proxy. Of all that is rendered one thing is changed: since all pods
// share one network, their ports are replaced by free ones.
package install
