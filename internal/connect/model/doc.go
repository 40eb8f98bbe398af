// Package model is a language model that plays a script: an HTTP endpoint on
// loopback that agents take for their provider. It serves to find out what an
// agent really offers a model, and what its tools really do, without a network
// and without a model.
//
// # Dialects
//
// The path of a POST chooses the dialect, whatever stands before it:
//
//	.../chat/completions                       OpenAI chat completions
//	.../responses                              OpenAI responses
//	.../messages                               Anthropic messages
//	...:generateContent, :streamGenerateContent  Gemini
//
// All four answer in one piece, and as server-sent events to a request that
// wants them. Counts of tokens and lists of models are answered with constants,
// every other request with {}. No credential is looked at.
//
// # Conversations
//
// A request that offers tools belongs to a conversation: to a sub-agent's if
// [SubMark] stands in the text of its first user messages, else to the main one.
// It is answered with the step of that conversation's script whose number is that
// of the tool calls in the history, so a request that is sent again gets the same
// answer. A step asked for more than four times (by an agent that drops calls it
// does not like from its history) is skipped. After the last step, and for a
// sub-agent without a script, the answer is the text [Done].
//
// A request that offers no tools, or only such as the provider runs itself (an
// agent's tool that searches the web sends it), is auxiliary (a title, a summary, a choice of
// model) and gets a text that agents can do with.
//
// # Bounds
//
// A request has at most 16 MiB, 1000 are answered in the life of an endpoint, the
// rest get status 503. At most 8 are worked on at a time.
//
// Requests are read by package canonical, which is stricter than agents are. What
// it refuses and what does not matter here is made good: a number that no float64
// holds becomes 0, a second key of the same name gets another, half a surrogate
// becomes U+FFFD. What is not JSON even then is answered with status 400.
package model
