package install_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taskonce/taskonce/test/harness"
)

// nonroot is the user of the image.
const nonroot = 65532

// accountDir is where a pod finds its service account's token.
const accountDir = "/var/run/secrets/kubernetes.io/serviceaccount"

// apiServer is what pods call the API server by: an address of this machine would never be called through a proxy.
const apiServer = "kubernetes.default.svc"

// prepare makes the pod's root: the image's files, the service account's files, and the volumes.
func (n *node) prepare(ctx context.Context, s *sandbox) error {
	root := n.root(s)
	if err := os.RemoveAll(root); err != nil {
		return err
	}
	files, err := n.image.files()
	if err != nil {
		return err
	}
	for _, file := range files {
		if err := errors.Join(os.MkdirAll(filepath.Dir(root+file), 0o755), os.Link(n.image.root+file, root+file)); err != nil { //nolint:gosec // another user reads it
			return err
		}
	}
	if err := n.putAccount(ctx, s); err != nil {
		return err
	}
	if err := n.putVolumes(ctx, s); err != nil {
		return err
	}
	for _, port := range s.pod.Spec.Containers[0].Ports {
		address, err := harness.UnusedAddress()
		if err != nil {
			return err
		}
		s.ports[port.ContainerPort] = address
	}
	return nil
}

func (n *node) root(s *sandbox) string { return filepath.Join(n.dir, string(s.pod.UID)) }

func (n *node) putAccount(ctx context.Context, s *sandbox) error {
	answer, err := n.clients.CoreV1().ServiceAccounts(s.pod.Namespace).CreateToken(ctx, s.pod.Spec.ServiceAccountName, &authenticationv1.TokenRequest{
		Spec: authenticationv1.TokenRequestSpec{BoundObjectRef: &authenticationv1.BoundObjectReference{Kind: "Pod", APIVersion: "v1", Name: s.pod.Name, UID: s.pod.UID}},
	}, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	root := n.root(s)
	return errors.Join(
		put(root, accountDir+"/token", []byte(answer.Status.Token), 0o444),
		put(root, accountDir+"/ca.crt", n.front.authorities(), 0o444),
		put(root, accountDir+"/namespace", []byte(s.pod.Namespace), 0o444),
		put(root, "/etc/hosts", []byte("127.0.0.1 "+apiServer+"\n"), 0o444),
	)
}

// putVolumes mounts Secrets and ConfigMaps.
func (n *node) putVolumes(ctx context.Context, s *sandbox) error {
	volumes := map[string]corev1.Volume{}
	for _, volume := range s.pod.Spec.Volumes {
		volumes[volume.Name] = volume
	}
	for _, mount := range s.pod.Spec.Containers[0].VolumeMounts {
		files, err := n.files(ctx, s.pod.Namespace, volumes[mount.Name])
		if err != nil {
			return err
		}
		for name, text := range files {
			if err := put(n.root(s), mount.MountPath+"/"+name, text, 0o444); err != nil {
				return err
			}
		}
	}
	return nil
}

func (n *node) files(ctx context.Context, namespace string, volume corev1.Volume) (map[string][]byte, error) {
	switch {
	case volume.Secret != nil:
		secret, err := n.clients.CoreV1().Secrets(namespace).Get(ctx, volume.Secret.SecretName, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		return secret.Data, nil
	case volume.ConfigMap != nil:
		config, err := n.clients.CoreV1().ConfigMaps(namespace).Get(ctx, volume.ConfigMap.Name, metav1.GetOptions{})
		if err != nil {
			return nil, err
		}
		files := map[string][]byte{}
		for name, text := range config.Data {
			files[name] = []byte(text)
		}
		return files, nil
	}
	return nil, fmt.Errorf("the volume %s is of a kind that is not played here", volume.Name)
}

func put(root, path string, text []byte, mode os.FileMode) error {
	path = filepath.Join(root, path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // another user reads it
		return err
	}
	return os.WriteFile(path, text, mode)
}

// process is the container's.
type process struct {
	cmd  *exec.Cmd
	log  string
	done chan struct{}
	err  error
}

// launch starts the pod's container.
func (n *node) launch(s *sandbox, restarts int32) (*process, error) {
	container := s.pod.Spec.Containers[0]
	command := container.Command
	if len(command) == 0 {
		command = n.image.config.Config.Entrypoint
	}
	cmd := &exec.Cmd{Path: command[0], Args: slices.Concat(command, container.Args)}
	for i := range cmd.Args {
		for port, address := range s.ports {
			if before, ok := strings.CutSuffix(cmd.Args[i], fmt.Sprintf("=:%d", port)); ok {
				cmd.Args[i] = before + "=" + address
			}
		}
	}
	cmd.Env = []string{"HOSTNAME=" + s.pod.Name, "KUBERNETES_SERVICE_HOST=" + apiServer, "KUBERNETES_SERVICE_PORT=" + n.front.port()}
	for _, variable := range container.Env {
		if variable.ValueFrom != nil {
			return nil, fmt.Errorf("the variable %s comes from something that is not played here", variable.Name)
		}
		cmd.Env = append(cmd.Env, variable.Name+"="+strings.ReplaceAll(variable.Value, "$(KUBERNETES_SERVICE_HOST)", apiServer))
	}
	p := &process{cmd: cmd, log: filepath.Join(n.dir, fmt.Sprintf("%s-%d.log", s.pod.Name, restarts)), done: make(chan struct{})}
	output, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer output.Close()
	cmd.Stdout, cmd.Stderr = output, output
	ended, err := launchIn(n.root(s), cmd)
	if err != nil {
		return nil, err
	}
	go func() {
		p.err = <-ended
		close(p.done)
	}()
	return p, nil
}

func (p *process) signal(signal os.Signal) error { return p.cmd.Process.Signal(signal) }

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // an error means that it has ended
	<-p.done
}

// leads says whether the process has become the leader.
func (p *process) leads() bool {
	text, err := os.ReadFile(p.log)
	return err == nil && bytes.Contains(text, []byte("uccessfully acquired lease"))
}

func (p *process) exitCode() int { return p.cmd.ProcessState.ExitCode() }

func (p *process) logTail() string {
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-15):], "\n")
}
