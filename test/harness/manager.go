package harness

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

// ManagerNamespace is where config/default puts the manager.
const ManagerNamespace = "taskonce-system"

const managerServiceAccount = "taskonce-controller-manager"

// managerRights are one of each role that is bound to the manager.
var managerRights = []Right{
	{Verb: "create", Group: "taskonce.dev", Resource: "taskrecords"},
	{Verb: "create", Group: "authentication.k8s.io", Resource: "tokenreviews"},
	{Verb: "create", Resource: "secrets", Namespace: ManagerNamespace},
	{Verb: "update", Group: "coordination.k8s.io", Resource: "leases", Namespace: ManagerNamespace, Name: "taskonce.dev"},
}

// tokenLifetime is longer than any run: a process of its own cannot ask for a new token.
const tokenLifetime = 30 * 24 * time.Hour

// ManagerKubeconfig applies the namespace, the service account and the rights of config/default, and returns the path
// of a kubeconfig file that authenticates as the manager. So the manager has exactly the rights it is installed with.
func (c *ControlPlane) ManagerKubeconfig(ctx context.Context) (string, error) {
	if err := c.applyRights(ctx); err != nil {
		return "", err
	}
	if err := c.awaitRights(ctx, managerServiceAccount, managerRights...); err != nil {
		return "", err
	}
	return c.accountKubeconfig(ctx, managerServiceAccount, "manager")
}

// accountKubeconfig writes a kubeconfig file that authenticates as a service account of the manager's namespace.
func (c *ControlPlane) accountKubeconfig(ctx context.Context, account, user string) (string, error) {
	token, err := c.Token(ctx, ManagerNamespace, account)
	if err != nil {
		return "", err
	}
	config := clientcmdapi.NewConfig()
	config.Clusters["taskonce"] = &clientcmdapi.Cluster{Server: c.Config.Host, CertificateAuthorityData: c.Config.CAData}
	config.AuthInfos[user] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts[user] = &clientcmdapi.Context{Cluster: "taskonce", AuthInfo: user, Namespace: ManagerNamespace}
	config.CurrentContext = user
	path := filepath.Join(c.Dir, user+".kubeconfig")
	return path, clientcmd.WriteToFile(*config, path)
}

// Token returns a token of a service account, which outlives any run.
func (c *ControlPlane) Token(ctx context.Context, namespace, account string) (string, error) {
	clients, err := kubernetes.NewForConfig(c.Config)
	if err != nil {
		return "", err
	}
	seconds := int64(tokenLifetime.Seconds())
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	answer, err := clients.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, account, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("a token for %s: %w", account, err)
	}
	return answer.Status.Token, nil
}

// applyRights applies what a manager outside the cluster needs too: no Deployment, no Service, no CRDs.
func (c *ControlPlane) applyRights(ctx context.Context) error {
	return c.applyKinds(ctx, "config/default", nil, "Namespace", "ServiceAccount", "Role", "RoleBinding", "ClusterRole", "ClusterRoleBinding")
}

// applyKinds applies the objects of some kinds of a folder that kustomize renders, after an edit.
func (c *ControlPlane) applyKinds(ctx context.Context, folder string, edit func(*unstructured.Unstructured) error, kinds ...string) error {
	rendered, _, err := c.Kubectl(ctx, "kustomize", folder)
	if err != nil {
		return err
	}
	selected, err := selectKinds([]byte(rendered), edit, kinds)
	if err != nil {
		return fmt.Errorf("%s: %w", folder, err)
	}
	_, _, err = c.kubectl(ctx, selected, "apply", "--server-side", "--force-conflicts", "-f", "-")
	return err
}

func selectKinds(manifests []byte, edit func(*unstructured.Unstructured) error, kinds []string) ([]byte, error) {
	var selected bytes.Buffer
	for decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(manifests), 4096); ; {
		object := unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); errors.Is(err, io.EOF) {
			return selected.Bytes(), nil
		} else if err != nil {
			return nil, err
		}
		if !slices.Contains(kinds, object.GetKind()) {
			continue
		}
		if edit != nil {
			if err := edit(&object); err != nil {
				return nil, err
			}
		}
		json, err := object.MarshalJSON()
		if err != nil {
			return nil, err
		}
		selected.Write(json) // kubectl reads JSON documents one after another, and an older one takes no --- between them
	}
}
