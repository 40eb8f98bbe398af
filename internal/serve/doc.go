// Package serve is the doors of a running runtime: unix sockets on which agents and the operator's tools speak JSON-RPC 2.0. It
// parses and renders; what is asked for is done by an [Agents] and an [Operator]. docs/agent-api.md teaches the agent's half to
// people who write a harness.
//
// # Two planes
//
// The sockets lie in one directory of mode 0700, HOME/run, and have mode 0600:
//
//	agent.sock      each connection is one session; the principal is "uid-<n>" by the peer's credentials
//	mcp.sock        the same for agents that speak MCP: who is connected is found out here, the rest is that of [Options].MCP
//	operator.sock   for the runtime's own user and root
//	lock            held while a server has the directory
//	start.lock      held while one of several starters starts a runtime
//	runtime.log     what a started runtime prints; begun anew at a start when it is longer than 1 MiB
//
// [Options].Shared is one more directory, with agent.sock and mcp.sock of mode 0666 for agents of other users: those get in whom the
// directory lets in, and are answered whom Shared names. Only the runtime's user may make files in it, and it is no link. What lies
// above it is for the caller to look at.
//
// They share no table of methods: a method of one does not exist on the other. Only status has a name on both, and tells an agent of
// its own session alone. Credentials are those that the kernel noted when the peer connected (SO_PEERCRED, LOCAL_PEERCRED); on
// systems without them everybody is refused. A uid tells users apart and not programs: who approves proves it with a key.
//
// A dead socket is taken away by a process that has the lock, and only if nobody answers. A path longer than the 103 bytes that every
// system takes is reached through the open directory, /proc/self/fd/<n>/agent.sock, on Linux, and refused elsewhere.
//
// # Lines
//
// A line is one JSON value, UTF-8, ended by a newline; it is bounded before it is decoded, and decoded strictly by package canonical:
// duplicate keys, keys that differ only in case, unknown members, null, and numbers that a float64 does not hold are refused. Answers
// are RFC 8785.
//
// A request has an id, a whole number or a string of at most 128 bytes as JSON. Batches and notifications are refused; the server
// sends only answers. Requests run beside each other and are answered as they finish, except that nothing more is read until
// session.open or shutdown is answered, and nothing after session.close, whose answer is the connection's last.
//
// A line that cannot be used is answered by an error, with a null id if its own cannot be had or is that of another request in flight,
// and the connection goes on. So does it after a line that is too long, which is skipped.
//
// # Methods of agent.sock
//
//	session.open   OpenRequest                -> Opened
//	skill.list                                -> {skills: [SkillListing]}
//	skill.use      {name}                     -> SkillContent
//	skill.read     {name, path}               -> FileContent
//	call           CallParams                 -> Reply
//	commit                                    -> Replies
//	status                                    -> SessionStatus
//	session.close                             -> {}
//
// # Methods of operator.sock
//
//	status                                    -> Status
//	inbox.list                                -> Inbox
//	inbox.get      {request}                  -> a question that waits or ended lately, in the wire form of package approval
//	inbox.wait     {since}                    -> Inbox, when its cursor is above since, or after a minute
//	inbox.answer   {answers: [Answer]}        -> {answered: [Answered]}
//	session.list                              -> {sessions: [Session]}
//	session.show   {session}                  -> SessionDetail
//	session.pause, session.resume, session.stop       {session} -> {}
//	session.rollback, session.commit                  {session} -> Replies
//	agent.reset    {agent}                    -> {}
//	barrier                                   -> Barrier
//	verdict        {session, from, to}, all optional -> Verdict
//	call.settle    {request, finding, evidence}      -> {}
//	trust.narrow   {document}, base64         -> Narrowed
//	shutdown                                  -> {}, then the server ends
//
// # Errors
//
// A refused or denied call is a result. An error's code is one of the five of JSON-RPC, or [CodeRefused] for a good request that was
// refused; its data are {reason, remedy}. What went wrong inside, where it has no reason, only an operator is told.
//
// # Ends
//
// When a connection ends, its session is closed. No request is cut off by that but inbox.wait: a call's ctx never ends, for its effect
// may have begun; it is recorded and its reply is lost. When the server ends it does the same to all connections, and answers what was
// in flight as long as the client listens.
//
// # Limits
//
//	line                   2 MiB without its newline, 32 deep; then 32 MiB are skipped, then the connection ends
//	time of a line         30 s from its first byte, skipped or not
//	time to open           30 s from connecting to an open session
//	result                 8 MiB; results of calls 7 MiB in one answer, 24 deep, beyond which they are left out
//	time of an answer      30 s to be taken by the client
//	in flight              64 requests and 16 MiB of them for a connection, 64 MiB for a socket
//	connections            1024 to agent.sock and as many to mcp.sock unless [Options] say otherwise, 16 operators
//
// So a socket's requests take at most 64 KiB for each connection and 128 MiB in all, and a few times that while they are decoded: lines
// that are longer share 64 MiB while they are read, and 64 MiB while they are in flight. How
// many questions wait for humans, and how large results are before they come here, the runtime bounds.
package serve
