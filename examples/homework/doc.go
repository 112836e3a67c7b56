// Command homework is an example of an application in front of the gateway: a student, a teacher and a parent hand in
// one homework, over networks that fail in ways that can be chosen, and beside them is what was really booked.
//
// It serves their pages, says who they are (an OpenID issuer that believes everybody: for one machine), and stands
// between them and the gateway as the network. make demo-web runs it with all that it needs.
package main
