// Package connect puts a coding agent behind iff: iff is the agent's tool server,
// the agent's own tools for files, shell, web, sub-agents and skills are closed, and
// what was added to its configuration is taken back on demand, exactly.
//
// # Levels
//
// [Project] files lie in the directory that the agent works in, [User] files below
// the user's home, [Managed] files in /etc. With opencode and codex the project's
// files win over the user's, so without root both are written; managed files hold
// whatever the others say, but for what [Check] names. [Agent.Strongest] chooses.
//
// # Editing
//
// [Prepare] works out the change of all files or refuses all of them; nothing is
// written yet. A file is read as JSON with comments and trailing commas, or as TOML;
// one that cannot be read is refused with its line. Single values are set, added to
// arrays, or given a place; what is not touched stays to the byte, comments, order,
// line ends and a byte order mark included. After each edit the text is read again
// and has to mean what it meant before with that one value changed; where it would
// not, as where a table is written on one line, the file is refused with the line to
// add by hand. A link is followed once. A file of more than 4 MiB is refused, TOML of
// more than 1 MiB.
//
// # Order of writing
//
//	1 lock      connect/lock of iff's home
//	2 backups   of every file that will change, connect/backups/<SHA-256>
//	3 record    connect/<agent>-<id>.json, mode 0600: each value and item that will be added, each file and directory that will be made
//	4 files     each atomically, with mode and owner of the one before, if it is still as it was read
//	5 check     the files are read again, and preparing anew finds nothing to change
//
// An error in 4 or 5 puts back what was written. A crash leaves a record that names
// at least what was written: connecting again completes it, undoing takes it back.
//
// # Undo
//
// [Store.Undo] gives a file that is still as it was written its bytes from before, or
// removes it if it was not there. In one that somebody changed since it takes back
// value by value what is still as it was written, and leaves alone and names the
// rest. What another connection of the same agent needs stays until that is undone.
//
// # Proof
//
// [Check] evaluates the files again by the agent's own precedence, and looks at those
// beside them that connecting does not edit for what they allow: what opens the agent
// again is a "no", with file and key. [Live] runs the agent against a model on loopback
// (package model) and sees what it offers. [Look] says over which files that holds, and
// [Record.Stale] whether those are another now.
//
// What is true of which agent was measured: opencode 1.18.33, claude-code 2.1.328,
// codex 0.169.0, qwen-code 0.24.4, gemini-cli 0.61.0.
package connect
