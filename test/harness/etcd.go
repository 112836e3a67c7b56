package harness

// EtcdURL is where etcd serves its clients, without authentication.
func (c *ControlPlane) EtcdURL() string {
	return c.env.ControlPlane.Etcd.URL.String()
}
