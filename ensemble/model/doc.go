// Package model has agents of an ensemble that are driven by a language model: a
// [Mind] asks an endpoint what to do, and the gate is asked for that.
//
// # Endpoints
//
// Two dialects are spoken, in one piece, without streams:
//
//	Chat      POST URL/chat/completions   Ollama, vLLM, llama.cpp, OpenAI and others
//	Messages  POST URL/messages           Anthropic and others
//
// An endpoint is reached under an egress grant like any host: [Options].Way is a
// way of internal/host/net to the [Target] of its URL, which a grant covers and a
// [[net.host]] labels. This machine and private networks are reached only where
// that says private. There is no proxy, nothing from the environment, and no
// redirect is followed. What agents read goes to the endpoint: give it a corpus
// that it may see.
//
// A key is read from a file that its owner alone can read, and sent in the header
// that the dialect has for it, to that host, over https or to this machine. It is
// in no error, no note and no cassette; a call that has it in its target or
// arguments, spelled out, is no call.
//
// # What a model is told
//
// Its role's prompt, the names of the files, escaped, how many turns it has, and
// these tools:
//
//	read_file, list_files                    fs.read: read, list
//	write_file, append_file, delete_file,    fs.write.irrev: write, append, delete,
//	rename_file, make_directory              rename, mkdir
//
// Of a gate, approvals, a log or a policy it is told nothing beforehand; what came
// of a call, denials too, is the result of its tool. A path is the target as it is:
// one that leads outside is the gate's to refuse.
//
// The conversation is written by us in every request: calls that were understood,
// with long texts cut, and what came of them. Text of the model is not kept. The
// newest 24 turns are told, and at most 96 KiB of them. Temperature is 0, unless
// [Options].Sampling says otherwise, and the seed is sent where the dialect has one.
//
// # What comes back
//
// A turn is one request and one call: the first in the response. Others are
// counted and ignored. Every turn is counted as one of these ([ensemble.Tally]), and
// none of them ends a run:
//
//	calls      a call of a tool
//	nothing    an answer without one; a turn in which the endpoint was left alone
//	malformed  model-malformed: another content type than application/json,
//	           packed, more than 4 MiB, not JSON as package canonical reads it
//	           (duplicate keys, NaN, nesting beyond 64), not of the dialect
//	           model-tool: a tool that there is not
//	           model-arguments: not what the tool takes, letter by letter
//	           model-leak: the endpoint's key in a call
//	refused    model-declined: the model would not
//	           model-status: a status other than 200, redirects among them, or an
//	           error in place of an answer
//	           model-unreachable: no connection, one that is not allowed, or one
//	           that broke off
//	late       model-late: no whole response within [Options].Timeout
//
// Numbers of a response that a float64 does not hold are read as 0: none counts.
// After [Options].Failures turns in a row that were malformed, refused or late the
// endpoint is not asked any more.
//
// # Cassettes
//
// A [Recorder] keeps what goes over a way, a [Player] gives it back without one. A
// cassette is a JSON document, schema iff/cassette/v1: exchanges, each on a
// line with
//
//	path, request    the end of the URL's path, and the body, as JSON
//	hash             SHA-256 in hex of "POST ", path, a line feed, and the canonical
//	                 form (RFC 8785) of the body
//	status, type,    the response; the body of one that is not 200 is left out
//	body or base64
//	failed           in place of a response: late, or broken
//
// No headers of requests are in it, nor where they went. A player gives each answer
// once, to the request with that hash, and a request without one ends the run
// (cassette-mismatch). The contents of files that were read are in it.
package model
