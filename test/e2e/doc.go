// Package e2e runs iff with programs that nobody here wrote: the five coding agents that iff connect knows, the MCP inspector, the
// reference MCP servers as upstreams, and the official conformance suite.
//
//	test/e2e/install DIR          installs them, once; DIR may be left out
//	go test ./test/e2e -e2e DIR   runs everything; -run 'TestAgents/codex' one agent
//
// Without -e2e the tests check nothing and say so. Models are played by package internal/connect/model, so that a run needs neither
// a network nor an account. As root the tests are run in network and mount namespaces of their own, with nothing in them but
// loopback; as anybody else that is left out, and said.
//
// Each agent has a file of its own: opencode_test.go, claude_test.go, codex_test.go, qwen_test.go, gemini_test.go say how it is
// started and what its built-in tools are called. What is done with it is the same for all and is in story_test.go.
package e2e
