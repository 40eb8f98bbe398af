// Package iff is the runtime that stands between an AI agent and the world.
//
// So far it decides which skills an agent may use. A skill directory is read
// once ([github.com/iff-run/iff/skill]), its manifest
// ([github.com/iff-run/iff/manifest]) says what it may do
// ([github.com/iff-run/iff/capability]) under which label
// ([github.com/iff-run/iff/label]) and how far somebody vouches for it
// ([github.com/iff-run/iff/level]), and the trust root
// ([github.com/iff-run/iff/trust]) says whose word counts. Every outcome is a
// record ([github.com/iff-run/iff/record]).
//
// # Life of a skill
//
// Bytes on disk are read by skill.Read, within limits, without following
// links. Nothing is believed yet. An operator inspects them (skill.Inspect),
// adopts them as unverified with a key that grants nothing, or signs them at a
// level with a protected one (skill.Sign). At bootstrap skill.Loader takes
// each through the paper's seven steps and records the outcome; Freeze ends
// that, and what was hashed is what is served for the whole session.
package iff
