// The state that a log is folded to: docs/log-format.md, section 8.

import { createHash } from 'node:crypto'

const byBytes = (a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))

/** The levels, the lowest first. */
const levels = ['unverified', 'declared', 'tested', 'formal']

export class State {
  constructor() {
    this.agents = new Map()
    this.calls = new Map()
    this.observed = new Map()
    this.placed = new Map()
    this.sessions = new Map()
    this.plain = { epoch: 0, fence: 0, logKey: '', origin: '', root: '', size: 0, trustDigest: '', trustVersion: 0, verdict: 0 }
  }

  /** log says which log this is, and its key. */
  log() {
    return this.plain
  }

  apply(record) {
    const r = Object.fromEntries(record)
    folds[r.kind]?.(this, Object.fromEntries(r.body), r)
    this.plain.size = r.seq + 1
  }

  trusted(trustVersion, trustDigest) {
    if (trustVersion > this.plain.trustVersion) Object.assign(this.plain, { trustVersion, trustDigest })
  }

  open(r, reversible) {
    if (this.calls.has(r.request)) return
    const none = { decision: -1, staged: -1, intent: -1, inDoubt: false }
    this.calls.set(r.request, { id: r.request, session: r.session, request: r.seq, reversible, ...none })
  }

  /** know keeps the lowest level and every mark of an agent. */
  know(agent, level, mark) {
    if (agent === '') return
    const known = this.agents.get(agent) ?? { rank: levels.length, marks: new Set() }
    if (level !== '') known.rank = Math.min(known.rank, Math.max(levels.indexOf(level), 0))
    if (mark !== '') known.marks.add(mark)
    this.agents.set(agent, known)
  }

  /** agentList is what stands in the canonical form. */
  agentList() {
    const agent = ([name, { rank, marks }]) => ({
      ...(rank < levels.length && { level: levels[rank] }), marks: [...marks].sort(byBytes), name,
    })
    return [...this.agents].map(agent).sort((a, b) => byBytes(a.name, b.name))
  }

  /** step changes a call if it is open. */
  step(r, change) {
    if (this.calls.has(r.request)) Object.assign(this.calls.get(r.request), change)
  }

  /** digest is the hash of the canonical form, which spelled makes. */
  digest(spelled) {
    const sorted = (map, ...fields) => [...map.values()].sort((a, b) => fields.reduce((found, f) => found || byBytes(a[f], b[f]), 0))
    const form = {
      ...this.plain,
      agents: this.agentList(),
      calls: sorted(this.calls, 'id'),
      observed: sorted(this.observed, 'name', 'signer'),
      placed: [...this.placed.values()],
      sessions: sorted(this.sessions, 'id'),
    }
    return createHash('sha256').update(spelled(form)).digest('hex')
  }
}

function seen(state, { directory, skill }) {
  const { name, signer, subject, version } = Object.fromEntries(skill)
  const id = JSON.stringify([name, signer])
  if (!(state.observed.get(id)?.version >= version)) state.observed.set(id, { name, signer, subject, version })
  state.placed.set(directory, { directory, skill }) // a directory that was there keeps its place
}

const closed = (state, _, r) => state.calls.delete(r.request)
const intended = (state, _, r) => state.step(r, { intent: r.seq })
const trustChanged = (state, { version, digest }) => state.trusted(version, digest)

const asked = reversible => (state, { agent, mark }, r) => {
  state.know(agent, '', mark)
  state.open(r, reversible)
}

/** What each kind does. */
const folds = {
  init(state, { origin, root, logKey, trustDigest }) {
    Object.assign(state.plain, { origin, root, logKey, epoch: 1 })
    state.trusted(1, trustDigest)
  },
  'key.rotated'({ plain }, b) {
    if (b.epoch === plain.epoch + 1 && b.old === plain.logKey) Object.assign(plain, { logKey: b.new, epoch: b.epoch })
  },
  boot({ plain }, { fence }) {
    plain.fence = Math.max(plain.fence, fence)
  },
  'trust.changed': trustChanged,
  revocation: trustChanged,
  'skill.adopted': seen,
  'skill.signed': seen,
  'skill.loaded': seen,
  session(state, { agent, level = '', mark = '', skill, transition }, { session: id, seq }) {
    if (transition === 'reset') return state.agents.delete(agent)
    state.know(agent, transition === 'skill' ? level : '', mark)
    if (['stopped', 'aborted', 'closed'].includes(transition)) return state.sessions.delete(id)
    if (transition === 'opened' && id !== '' && !state.sessions.has(id)) state.sessions.set(id, { agent, id, opened: seq })
    const open = state.sessions.get(id)
    if (open) state.sessions.set(id, { agent: open.agent, id, opened: open.opened, ...(skill && { skill }), transition })
  },
  verdict({ plain }, _, { seq }) {
    plain.verdict = seq + 1
  },
  request: asked(false),
  'reversible.request': asked(true),
  decision(state, { choice }, r) {
    const call = state.calls.get(r.request)
    if (call?.decision !== -1 || call.intent !== -1) return
    if (choice === 'approve') state.step(r, { decision: r.seq })
    else state.calls.delete(r.request)
  },
  staged: (state, _, r) => state.step(r, { staged: r.seq }),
  intent: intended,
  'commit.intent': intended,
  'rollback.intent'(state, _, r) {
    state.open(r, true)
    state.step(r, { intent: r.seq, request: -1 })
  },
  executed: closed,
  error: closed,
  committed: closed,
  'rolled-back': closed,
  resolved: closed,
  recovery(state, { denied, expired, rolledBack, inDoubt }) {
    for (const id of [...denied, ...expired, ...rolledBack]) state.calls.delete(id)
    for (const id of inDoubt) state.step({ request: id }, { inDoubt: true })
  },
}
