package install_test

import (
	"maps"
	"strings"
	"testing"
)

// verifying has the chart's gateway verify tokens.
const verifying = "gateway.enabled=true,gateway.oidc.issuer=https://issuer.example,gateway.oidc.audience=school"

func init() {
	maps.Copy(values, map[string]string{
		"gateway.enabled=true":                                          "--tls-cert-dir=/etc/taskonce/tls",
		"gateway.replicas=3":                                            "replicas: 3",
		"gateway.tls.enabled=false":                                     "--plain-http",
		"gateway.tls.secretName=ours":                                   "secretName: ours",
		"gateway.oidc.issuer=https://other.example":                     "--oidc-issuer=https://other.example",
		"gateway.oidc.audience=bank":                                    "--oidc-audience=bank",
		"gateway.oidc.keysURL=https://keys.example":                     "--oidc-keys-url=https://keys.example",
		"gateway.oidc.caConfigMap=authorities":                          "--oidc-ca-file=/etc/taskonce/issuer/ca.crt",
		"gateway.oidc.usernameClaim=email":                              "--oidc-username-claim=email",
		"gateway.oidc.usernamePrefix=oidc:":                             "--oidc-username-prefix=oidc:",
		"gateway.oidc.namespaces={shop}":                                "namespace: shop",
		"gateway.page.enabled=true":                                     "--page-bind-address=127.0.0.1:8082",
		"gateway.page.authentication=delegated":                         "name: taskonce-gateway-page\n  namespace: taskonce-system",
		"gateway.page.namespaces={shop}":                                "--page-namespaces=shop",
		"gateway.corsOrigins={https://school.example,http://localhost}": "--cors-origins=https://school.example,http://localhost",
		"gateway.maxBodyBytes=2097152":                                  "--max-body-bytes=2097152",
		"gateway.rate.perSecond=7":                                      "--rate=7",
		"gateway.rate.burst=7":                                          "--burst=7",
		"gateway.defaultWait=3s":                                        "--default-wait=3s",
		"gateway.maxWait=1m30s":                                         "--max-wait=1m30s",
		"gateway.service.type=LoadBalancer":                             "type: LoadBalancer",
		"gateway.service.port=4443":                                     "port: 4443",
		"gateway.service.annotations.balancer=internal":                 "balancer: internal",
		"gateway.serviceAccount.annotations.role=cloud":                 "role: cloud",
		"gateway.extraArgs={--grace-period=7s}":                         "--grace-period=7s",
		"gateway.extraEnv[0].name=HTTPS_PROXY":                          "name: HTTPS_PROXY",
		"gateway.extraVolumes[0].name=more":                             "- name: more",
		"gateway.extraVolumeMounts[0].name=m,gateway.extraVolumeMounts[0].mountPath=/more": "mountPath: /more",
		"gateway.podLabels.pod=label":                                                 "pod: label",
		"gateway.podAnnotations.pod=annotation":                                       "pod: annotation",
		"gateway.resources.limits.memory=1Gi":                                         "memory: 1Gi",
		"gateway.priorityClassName=system-cluster-critical":                           "priorityClassName: system-cluster-critical",
		"gateway.nodeSelector.disk=fast":                                              "disk: fast",
		"gateway.tolerations[0].key=dedicated":                                        "key: dedicated",
		"gateway.affinity.nodeAffinity.x=y":                                           "nodeAffinity:",
		"gateway.topologySpreadKey=topology.kubernetes.io/zone":                       "topologyKey: topology.kubernetes.io/zone",
		"gateway.podDisruptionBudget.enabled=false":                                   "!kind: PodDisruptionBudget",
		"gateway.podDisruptionBudget.maxUnavailable=2":                                "maxUnavailable: 2",
		"gateway.networkPolicy.enabled=true":                                          "kind: NetworkPolicy",
		"gateway.networkPolicy.from[0].podSelector.matchLabels.app=door":              "app: door",
		"gateway.networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus": "app: prometheus",
		"gateway.networkPolicy.egress[0].ports[0].port=443":                           "- Egress",
	})
	maps.Copy(with, map[string]string{
		"gateway":                             "gateway.enabled=true",
		"gateway.oidc":                        verifying,
		"gateway.page":                        "gateway.page.enabled=true",
		"gateway.networkPolicy":               "gateway.networkPolicy.enabled=true",
		"gateway.podDisruptionBudget.enabled": "podDisruptionBudget.enabled=false", // the operator's
	})
}

// renderedGateways are the chart's gateways in each way that changes what is rendered.
func (w *world) renderedGateways() string {
	w.Helper()
	const everything = verifying + ",gateway.oidc.namespaces={shop},gateway.oidc.caConfigMap=ca,gateway.networkPolicy.enabled=true," +
		"gateway.networkPolicy.egress[0].ports[0].port=443,gateway.service.type=NodePort,gateway.page.enabled=true,gateway.page.authentication=delegated," +
		"gateway.topologySpreadKey=zone," +
		"gateway.extraVolumes[0].name=m,gateway.extraVolumeMounts[0].name=m,gateway.extraVolumeMounts[0].mountPath=/m"
	var all strings.Builder
	for _, settings := range []string{everything, "gateway.enabled=true,gateway.tls.enabled=false,metrics.enabled=false", "namespaces={shop}," + everything, "gateway.enabled=true,gateway.page.enabled=true"} {
		all.WriteString(w.render("other", "elsewhere", "--set", settings) + "\n---\n")
	}
	return all.String()
}

// TestAGatewayForSomeNamespaces is given Roles there, and nothing for the whole cluster.
func TestAGatewayForSomeNamespaces(t *testing.T) {
	w := newWorld(t)
	found := objects(t, w.render("team", "elsewhere", "--set", "namespaces={shop},gateway.page.enabled=true,gateway.oidc.namespaces={shop},"+verifying))
	for _, role := range []string{"gateway", "gateway-page"} {
		if found["Role team-taskonce-"+role+" in shop"] == nil || found["RoleBinding team-taskonce-"+role+" in shop"] == nil {
			t.Errorf("it lacks the rights %s in its namespace", role)
		}
	}
	for name := range found {
		if strings.HasPrefix(name, "ClusterRole") {
			t.Errorf("it has a %s", name)
		}
	}
}

// TestWrongValuesOfTheGatewayAreRefused by the schema, or in words of the chart's own.
func TestWrongValuesOfTheGatewayAreRefused(t *testing.T) {
	w := newWorld(t)
	for wrong, says := range map[string]string{
		"gateway.replicass=2":                                             "schema",
		"gateway.oidc.issuer=issuer.example":                              "schema",
		"gateway.oidc.usernameClaim=":                                     "schema",
		"gateway.corsOrigins={*}":                                         "schema",
		"gateway.corsOrigins={https://*.example}":                         "schema",
		"gateway.maxBodyBytes=10":                                         "schema",
		"gateway.rate.perSecond=-1":                                       "schema",
		"gateway.defaultWait=soon":                                        "schema",
		"gateway.service.port=0":                                          "schema",
		"gateway.enabled=true,gateway.oidc.issuer=https://issuer.example": "gateway.oidc.audience must be set",
		"gateway.enabled=true,gateway.oidc.namespaces={shop}":             "set gateway.oidc.issuer",
		"gateway.enabled=true,gateway.page.enabled=true,gateway.page.authentication=delegated,gateway.tls.enabled=false": "set gateway.tls.enabled",
	} {
		if out, err := w.helm("template", "taskonce", "dist/chart", "--set", wrong); err == nil || !strings.Contains(out, says) {
			t.Errorf("%s was not refused with %q: %s", wrong, says, out)
		}
	}
}
