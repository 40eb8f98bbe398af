// Package skill takes a directory from anywhere to a loaded skill, or refuses
// it with a reason (paper, section "The skill trust schema").
//
// # Content
//
// A skill directory is what the Agent Skills specification says, plus three
// files of ours: skill.iff.json (the manifest, package manifest),
// skill.iff.sig (the signature) and skill.iff.intoto.jsonl (evidence, read by
// later versions). The content is every regular file below the directory
// other than those three at its top, hidden and extensionless ones too:
// (path, size, executable, SHA-256), sorted by path bytewise. The content root
// is the SHA-256 of that list's canonical JSON (RFC 8785). Links, devices,
// FIFOs and sockets are refused, as are names that are not printable UTF-8,
// names that differ only in case or Unicode form, a file that changes while
// it is read, and whatever exceeds [Limits]. Empty directories are not
// content.
//
// [Read] reads a directory once. What it hashed is what is served, from
// memory, for as long as the session lasts; the disk is not looked at again.
//
// # Signature
//
// What is signed is Ed25519 over "iff/skill/v1\n" followed by the canonical
// form of {"content": content root, "manifest": manifest}. The signature file
// holds the content list beside the signature, because a verifier that has
// only a root can say that something changed but not what; the list is
// believed only if the signature over its root verifies.
//
// # Load
//
// [Loader.Load] takes the paper's seven steps in order and records one outcome
// for each skill:
//
//  1. manifest: parse, strictly
//  2. signer: in the trust root, not revoked, not expired
//  3. signature: over this manifest and content; nothing newer was seen, nor
//     the same version with another manifest or content
//  4. label within the signer's clearance
//  5. label within the operator's clearance
//  6. level within the signer's authority, with evidence from tested up (which
//     no version of iff can make yet, so both are refused); an adopter attests
//     unverified only, whatever its entry says
//  7. grants registered; no second skill of the same name
//
// Everything that keeps content from being hashed is refused at step 3.
// [Loader.Freeze] ends loading and returns the [Set]. [Verify] answers what
// Load would, and neither registers nor records.
//
// # Versions
//
// An identity is (name, signer). A version lower than the newest seen is a
// replay; the same version with another subject (content root and manifest)
// is equivocation. What was seen is folded from the records (package record).
//
// # Base
//
// The name "base" is the operator's own manifest: grants, no content.
package skill
