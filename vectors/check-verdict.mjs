// Verdicts: what corpora were at barriers and around calls, held against what was
// approved and done. Written from the rules in the comment of package verdict.

import { canonical, object, parse, string } from './check-json.mjs'
import { readRecord } from './check-log.mjs'

const plain = value => {
  if (value instanceof Map) return Object.fromEntries([...value].map(([k, v]) => [k, plain(v)]))
  return Array.isArray(value) ? value.map(plain) : value
}
const readingShape = object({ at: string, corpus: string, snapshot: string })

/** readLine: a record, or { at, corpus, states }. */
function readLine(line) {
  if (!line.subarray(0, 6).equals(Buffer.from('{"at":'))) return plain(readRecord(line))
  const { at, corpus, snapshot } = plain(parse(line, { shape: readingShape }))
  const rows = snapshot.split('\n').slice(0, -1).map(row => /^(\S+) (.+)$/.exec(row).slice(1))
  return { at, corpus, states: new Map(rows.map(([state, name]) => [name, state])) }
}

const known = state => state === 'absent' || /^[0-9a-f]{64}$/.test(state ?? '')
const differ = (a, b) => known(a) && known(b) && a !== b
const corpusOf = name => name.slice(0, name.indexOf('/'))
const operation = (before, after) => (before === 'absent' ? 'create' : after === 'absent' ? 'delete' : 'modify')

// W: the life of a call in letters, and which lives there are. q r: asked for, one
// that can be staged; y n: decided; s: staged; i c u: intents to do, commit, undo;
// d: done; m: committed; b: back; e: error; f g: found executed, found otherwise; z: closed by a
// recovery.

const letters = {
  request: () => 'q', 'reversible.request': () => 'r', decision: b => (b.choice === 'approve' ? 'y' : 'n'), staged: () => 's',
  intent: () => 'i', 'commit.intent': () => 'c', 'rollback.intent': () => 'u', executed: () => 'd', committed: () => 'm',
  'rolled-back': () => 'b', error: () => 'e', resolved: b => (b.finding === 'executed' ? 'f' : 'g'),
}
const intents = 'icu'
const outcomes = 'dmbefg'

const committing = '(?:c(?:[eg]|[mf](?:e|u[eg])*(?:u[bf]?)?)?)'
const staged = `(?:b|e|${committing})?`
const lives = {
  none: /^q(?:y[de]?|n)?$/,
  irreversible: /^q(?:y(?:e|i[defg]?)?|n)?$/,
  reversible: new RegExp(`^r(?:y(?:e|s${staged})?|n|s(?:b|nb?|y${staged})?)?$`),
}

class Call {
  constructor(id) {
    Object.assign(this, { id, life: '', broken: false, closed: false, plan: undefined, since: 0 })
  }

  breaks(fault) {
    if (fault) this.broken = true
  }

  /** takes the next record. */
  takes(r, letter, fence) {
    const { body } = r
    if (!this.asked) Object.assign(this, { asked: body, session: r.session, plans: body.plan ?? [] })
    const undoing = /[mf]/.test(this.life) && this.asked.effect === 'reversible'
    this.breaks(this.closed && (/[ysicu]/.test(letter) || (letter === 'd' && this.asked.effect === 'none')))
    this.life += letter
    this.breaks(!lives[this.asked.effect]?.test(this.life))
    this.breaks(letter !== 'f' && letter !== 'g' && body.envelope !== this.asked.envelope)
    this.breaks(!undoing && !'fgb'.includes(letter) && r.session !== this.session)
    if (letter === 'y') this.approved(r)
    if (intents.includes(letter)) this.intends(r, letter, fence)
    if (outcomes.includes(letter)) this.ends(body, letter)
  }

  /** approved: by whom, and whether they may. */
  approved({ body }) {
    this.expires = body.expires
    const { effect, guarded, level } = this.asked
    if (['human', 'webhook'].includes(body.cause)) return this.breaks(body.signature !== 'good')
    const changes = effect !== 'none'
    this.breaks(!['policy', 'level'].includes(body.cause) || (changes && guarded) || (changes && body.cause === 'level' && level === 'unverified'))
  }

  intends({ body, time }, letter, fence) {
    const { plan } = body
    this.breaks(body.fence !== fence || !sound(plan, state => state === 'any'))
    if (letter === 'u') {
      const back = [...(this.done ?? [])].reverse()
      this.breaks(back.length !== plan.length || !back.every((d, i) => d.object === plan[i].object && d.before === plan[i].after && d.after === plan[i].before))
    } else {
      const admits = (a, p) => a.object === p.object && ['any', p.before].includes(a.before) && ['any', p.after].includes(a.after)
      this.breaks(this.plans.length !== plan.length || !this.plans.every((a, i) => admits(a, plan[i])))
      this.breaks(this.expires !== undefined && Date.parse(time) > Date.parse(this.expires) + 60_000)
    }
  }

  ends({ readings }, letter) {
    this.breaks(this.plan === undefined && readings.length > 0)
    this.breaks(!sound(readings, state => state === 'unreadable', true))
    if (this.plan && 'mf'.includes(letter) && !this.done) this.done = this.plan
  }
}

/** sound: no object twice, and states; what besides may stand after and, if both, before. */
function sound(changes, besides, both = false) {
  const names = new Set(changes.map(c => c.object))
  return names.size === changes.length && changes.every(c => (known(c.before) || (both && besides(c.before))) && (known(c.after) || besides(c.after)))
}

const once = changes => changes.filter((c, i) => changes.findIndex(d => d.object === c.object) === i)

/** Judge: the chains of all objects, and from them D and S. */
class Judge {
  constructor() {
    Object.assign(this, { at: 0, fence: 0, calls: new Map(), objects: new Map(), starts: new Map(), ended: new Set(), extra: [], missing: [], found: [] })
  }

  /** object: one that the start does not name was absent there. */
  object(name) {
    if (!this.objects.has(name)) {
      const states = this.starts.get(corpusOf(name))
      const last = states && (states.get(name) ?? 'absent')
      this.objects.set(name, { name, leased: false, ended: 0, last: known(last) ? last : undefined, when: 0 })
    }
    return this.objects.get(name)
  }

  finding(kind, name, call) {
    this.found.push([kind, name ?? '', call ?? ''])
  }

  leases(name) {
    return [...this.calls.values()].some(c => c.plan?.some(p => p.object === name))
  }

  take(r) {
    this.at++
    if (r.at) return this.snapshot(r)
    if (r.kind === 'boot') this.fence = Math.max(this.fence, r.body.fence)
    if (r.kind === 'recovery') {
      for (const id of [...r.body.denied, ...r.body.expired, ...r.body.rolledBack]) if (this.calls.has(id)) this.calls.get(id).closed = true
    }
    if (!letters[r.kind]) return undefined
    if (!this.calls.has(r.request)) this.calls.set(r.request, new Call(r.request))
    const call = this.calls.get(r.request)
    const letter = letters[r.kind](r.body)
    call.takes(r, letter, this.fence)
    if (intents.includes(letter)) this.opens(call, r.body.plan)
    if (outcomes.includes(letter)) this.closes(call, r.body.readings, !'eg'.includes(letter))
    return undefined
  }

  opens(call, plan) {
    Object.assign(call, { plan: once(plan), since: this.at })
    for (const p of call.plan) this.object(p.object).leased = true
  }

  closes(call, readings, done) {
    const plan = call.plan ?? []
    const since = call.plan ? call.since : this.at
    call.plan = undefined
    const lost = plan.map(p => ({ object: p.object, before: 'unreadable', after: 'unreadable' }))
    for (const r of once([...readings, ...lost])) {
      this.reading({ call, done, from: since, at: this.at }, r, plan.find(p => p.object === r.object))
    }
  }

  /** reading: what a call did to an object, against its plan if it has one. */
  reading(tag, { object: name, before, after }, plan) {
    const o = this.object(name)
    if (!known(before) || !known(after)) this.finding('unread', name, tag.call.id)
    const p = known(before) ? before : known(plan?.before) ? plan.before : o.last
    const q = known(after) ? after : plan && tag.done ? plan.after : p
    this.gap(o, p)
    const planned = plan?.after === 'any' ? q : plan?.after
    const inD = differ(p, q)
    const inS = plan !== undefined && tag.done && differ(plan.before, planned)
    const same = inD && inS && p === plan.before && q === planned
    if (inD && !same) this.extra.push({ ...tag, object: o, after: q })
    if (inS && !same) this.missing.push({ ...tag, object: o, after: planned })
    Object.assign(o, { last: q, when: this.at, leased: o.leased || plan !== undefined, ended: o.ended + (plan ? 1 : 0) })
  }

  /** gap: the next state in the chain of an object, which nobody accounts for. */
  gap(o, state) {
    if (differ(o.last, state)) this.extra.push({ from: o.when, at: this.at, object: o, after: state, early: o.ended === 0 })
  }

  snapshot({ at, corpus, states }) {
    if (at === 'start') this.starts.set(corpus, states)
    if (at === 'end') this.ended.add(corpus)
    for (const name of new Set([...(this.starts.get(corpus)?.keys() ?? []), ...this.objects.keys(), ...states.keys()])) {
      if (corpusOf(name) !== corpus || this.leases(name)) continue
      const o = this.object(name)
      const state = states.get(name) ?? 'absent'
      if (!known(state)) this.finding('unread', name)
      else {
        this.gap(o, state)
        Object.assign(o, { last: state, when: this.at })
      }
    }
  }
}

const order = (a, b) => a.at - b.at || Buffer.compare(Buffer.from(a.object.name), Buffer.from(b.object.name)) || Number(!!a.call) - Number(!!b.call)

/** classify gives each difference its one class, in the order of the rules. */
function classify(judge, guarded) {
  for (const call of judge.calls.values()) {
    if (call.broken) judge.finding('forgery', '', call.id)
    if (call.plan) (call.plan.length === 0 ? [{}] : call.plan).forEach(p => judge.finding('in-doubt', p.object, call.id))
  }
  for (const corpus of judge.starts.keys()) if (!judge.ended.has(corpus)) judge.finding('unread', `${corpus}/.`)
  if (judge.starts.size === 0) judge.finding('unread')
  const sets = { missing: judge.missing.sort(order), extra: judge.extra.sort(order) }
  const take = (kind, set, is) => {
    sets[set] = sets[set].filter(d => {
      const taken = is(d)
      if (taken) judge.finding(kind, d.object.name, d.call?.id)
      return !taken
    })
  }
  const pair = (kind, fits) => take(kind, 'missing', m => {
    const i = sets.extra.findIndex(d => fits(m, d))
    if (i >= 0) sets.extra.splice(i, 1)
    return i >= 0
  })
  for (const set of ['missing', 'extra']) take('forgery', set, d => d.call?.broken)
  take('tamper', 'extra', d => !d.call && guarded.includes(d.object.name))
  pair('wrong-target', (m, d) => (!d.call || d.done) && d.object !== m.object && d.after === m.after && d.from < m.at && d.at > m.from)
  pair('wrong-content', (m, d) => d.call === m.call && d.object === m.object && d.at === m.at)
  take('silent-failure', 'missing', () => true)
  take('partial', 'extra', d => d.call && !d.done)
  take('wrong-content', 'extra', d => d.call)
  take('bypass', 'extra', d => !d.object.leased)
  take('drift', 'extra', d => d.early)
  take('overlap', 'extra', () => true)
}

/** checkVerdict takes the lines of a payload. */
export function checkVerdict(lines, guarded) {
  const judge = new Judge()
  lines.map(readLine).forEach(line => judge.take(line))
  classify(judge, guarded)
  const unique = (f, i, all) => f[0] !== 'unread' || all.findIndex(g => g.every((v, k) => v === f[k])) === i
  const found = judge.found.filter(unique)
  const token = found.some(([kind]) => !['unread', 'in-doubt'].includes(kind)) ? 'fail' : found.length > 0 ? 'open' : 'pass'
  return { token, derived: { findings: `[${found.map(f => canonical(f)).sort().join(',')}]` } }
}
