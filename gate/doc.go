// Package gate decides calls and has them done (paper, section "The capability
// gate"; DESIGN sections 2 and 5).
package gate
