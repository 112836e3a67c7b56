// Package layout holds the rules of who may import whom; its tests check them.
package layout
