package install_test

import (
	"maps"
	"strings"
	"testing"
)

// verifying has the chart's gateway verify tokens.
const verifying = "gateway.enabled=true,gateway.oidc.issuer=https://issuer.example,gateway.oidc.audience=school"

func init() {
	maps.Copy(values, map[string][]string{
		"gateway.enabled=true":                                          {gateway + "--tls-cert-dir=/etc/taskonce/tls"},
		"gateway.replicas=3":                                            {gateway + "replicas: 3"},
		"gateway.tls.enabled=false":                                     {gateway + "--plain-http"},
		"gateway.tls.secretName=ours":                                   {gateway + "secretName: ours"},
		"gateway.oidc.issuer=https://other.example":                     {gateway + "--oidc-issuer=https://other.example"},
		"gateway.oidc.audience=bank":                                    {gateway + "--oidc-audience=bank"},
		"gateway.oidc.keysURL=https://keys.example":                     {gateway + "--oidc-keys-url=https://keys.example"},
		"gateway.oidc.caConfigMap=authorities":                          {gateway + "--oidc-ca-file=/etc/taskonce/issuer/ca.crt"},
		"gateway.oidc.usernameClaim=email":                              {gateway + "--oidc-username-claim=email"},
		"gateway.oidc.usernamePrefix=oidc:":                             {gateway + "--oidc-username-prefix=oidc:"},
		"gateway.oidc.namespaces={shop}":                                {"RoleBinding taskonce-gateway: namespace: shop"},
		"gateway.page.enabled=true":                                     {gateway + "--page-bind-address=127.0.0.1:8082"},
		"gateway.page.authentication=delegated":                         {"Service taskonce-gateway-page: kind: Service"},
		"gateway.page.namespaces={shop}":                                {gateway + "--page-namespaces=shop"},
		"gateway.corsOrigins={https://school.example,http://localhost}": {gateway + "--cors-origins=https://school.example,http://localhost"},
		"gateway.maxBodyBytes=2097152":                                  {gateway + "--max-body-bytes=2097152"},
		"gateway.rate.perSecond=7":                                      {gateway + "--rate=7"},
		"gateway.rate.burst=7":                                          {gateway + "--burst=7"},
		"gateway.defaultWait=3s":                                        {gateway + "--default-wait=3s"},
		"gateway.maxWait=1m30s":                                         {gateway + "--max-wait=1m30s"},
		"gateway.gracePeriodSeconds=45":                                 {gateway + "terminationGracePeriodSeconds: 65"},
		"gateway.service.type=LoadBalancer":                             {"Service taskonce-gateway: type: LoadBalancer"},
		"gateway.service.port=4443":                                     {"Service taskonce-gateway: port: 4443"},
		"gateway.service.annotations.balancer=internal":                 {"Service taskonce-gateway: balancer: internal"},
		"gateway.serviceAccount.annotations.role=cloud":                 {"ServiceAccount taskonce-gateway: role: cloud"},
		"gateway.extraArgs={--grace-period=7s}":                         {gateway + "--grace-period=7s"},
		"gateway.extraEnv[0].name=HTTPS_PROXY":                          {gateway + "name: HTTPS_PROXY"},
		"gateway.extraVolumes[0].name=more":                             {gateway + "- name: more"},
		"gateway.extraVolumeMounts[0].name=m,gateway.extraVolumeMounts[0].mountPath=/more": {gateway + "mountPath: /more"},
		"gateway.podLabels.pod=label":                                                 {gateway + "pod: label"},
		"gateway.podAnnotations.pod=annotation":                                       {gateway + "pod: annotation"},
		"gateway.resources.limits.memory=1Gi":                                         {gateway + "memory: 1Gi"},
		"gateway.priorityClassName=system-cluster-critical":                           {gateway + "priorityClassName: system-cluster-critical"},
		"gateway.nodeSelector.disk=fast":                                              {gateway + "disk: fast"},
		"gateway.tolerations[0].key=dedicated":                                        {gateway + "key: dedicated"},
		"gateway.affinity.nodeAffinity.x=y":                                           {gateway + "nodeAffinity:"},
		"gateway.topologySpreadKey=topology.kubernetes.io/zone":                       {gateway + "topologyKey: topology.kubernetes.io/zone"},
		"gateway.podDisruptionBudget.enabled=false":                                   {without + "PodDisruptionBudget taskonce-gateway: kind: PodDisruptionBudget"},
		"gateway.podDisruptionBudget.maxUnavailable=2":                                {"PodDisruptionBudget taskonce-gateway: maxUnavailable: 2"},
		"gateway.networkPolicy.enabled=true":                                          {"NetworkPolicy taskonce-gateway: kind: NetworkPolicy"},
		"gateway.networkPolicy.from[0].podSelector.matchLabels.app=door":              {"NetworkPolicy taskonce-gateway: app: door"},
		"gateway.networkPolicy.metricsFrom[0].podSelector.matchLabels.app=prometheus": {"NetworkPolicy taskonce-gateway: app: prometheus"},
		"gateway.networkPolicy.egress[0].ports[0].port=443":                           {"NetworkPolicy taskonce-gateway: - Egress"},
	})
	maps.Copy(with, map[string]string{
		"gateway":               "gateway.enabled=true",
		"gateway.oidc":          verifying,
		"gateway.page":          "gateway.page.enabled=true",
		"gateway.networkPolicy": "gateway.networkPolicy.enabled=true",
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
		if found["Role team-taskonce-"+role+" in shop"] == nil || found["RoleBinding team-taskonce-"+role+"-role in shop"] == nil {
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
		"gateway.oidc.issuer=http://issuer.example":                       "schema",
		"gateway.oidc.keysURL=http://localhost.example/keys":              "schema",
		"gateway.oidc.usernameClaim=":                                     "schema",
		"gateway.corsOrigins={*}":                                         "schema",
		"gateway.corsOrigins={https://*.example}":                         "schema",
		"gateway.maxBodyBytes=10":                                         "schema",
		"gateway.rate.perSecond=-1":                                       "schema",
		"gateway.defaultWait=soon":                                        "schema",
		"gateway.gracePeriodSeconds=-1":                                   "schema",
		"gateway.service.port=0":                                          "schema",
		"gateway.enabled=true,gateway.oidc.issuer=https://issuer.example": "gateway.oidc.audience must be set",
		"gateway.enabled=true,gateway.oidc.namespaces={shop}":             "set gateway.oidc.issuer",
		"gateway.enabled=true,gateway.page.enabled=true,gateway.page.authentication=delegated,gateway.tls.enabled=false": "set gateway.tls.enabled",
	} {
		if out, err := w.helm("template", "taskonce", "dist/chart", "--set", wrong); err == nil || !strings.Contains(out, says) {
			t.Errorf("%s was not refused with %q: %s", wrong, says, out)
		}
	}
	w.render("taskonce", system, "--set", verifying+",gateway.oidc.issuer=http://localhost:8088,gateway.oidc.keysURL=http://127.0.0.1/keys") // as the gateway takes it
}
