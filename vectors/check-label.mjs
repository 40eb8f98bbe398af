// Labels: schemes, the two spellings of a label, order and join.

import { createHash } from 'node:crypto'
import { Refusal, canonical } from './check-json.mjs'

const builtin = (name, ranks, compartments, releasable) => ({
  name,
  ranks: ranks.split(','),
  compartments: compartments ? compartments.split(',') : [],
  releasable: releasable.split(','),
})

const builtins = [
  builtin('generic', 'PUBLIC,INTERNAL,CONFIDENTIAL', '', 'EVERYONE'),
  builtin('default', 'PUBLIC,INTERNAL,CONFIDENTIAL,RESTRICTED,RESTRICTED-PLUS', '', 'EVERYONE'),
  builtin('us-government', 'UNCLASSIFIED,CUI,CONFIDENTIAL,SECRET,TOP SECRET',
    'CTI,EXPT,FISA,FRD,HCS,NOFORN,ORCON,PROPIN,PRVCY,RD,SI,SI-G,TK', 'AUS,CAN,GBR,NZL,USA'),
  builtin('healthcare', 'PUBLIC,INTERNAL,PHI,SENSITIVE-PHI',
    'GENETIC,HIV,PSYCHOTHERAPY,REPRODUCTIVE,RESEARCH,SUBSTANCE-USE', 'OPERATIONS,PATIENT,PAYMENT,RESEARCHERS,TREATMENT'),
  builtin('financial', 'PUBLIC,INTERNAL,CONFIDENTIAL,MNPI,RESTRICTED-MNPI',
    'ADVISORY,CAPITAL-MARKETS,LENDING,PCI,PRIVATE-SIDE,PUBLIC-SIDE,RESEARCH,SAR,TRADING',
    'AUDITORS,CLIENTS,COMPLIANCE,COUNTERPARTIES,REGULATORS,STAFF'),
]

/** scheme is a built-in scheme by name. */
export function scheme(name) {
  const data = builtins.find(s => s.name === name)
  if (!data) throw new Error(`unknown scheme ${name}`)
  return data
}

/** checkScheme validates the data of a scheme and returns it with both sets sorted. */
export function checkScheme(data) {
  checkName(data.name)
  for (const [names, least, most] of [[data.ranks, 1, 32], [data.compartments, 0, 64], [data.releasable, 1, 64]]) {
    if (names.length < least || names.length > most) throw new Refusal('scheme-invalid')
    const seen = new Set()
    for (const name of names) {
      checkName(name)
      if (seen.has(name.toUpperCase())) throw new Refusal('scheme-duplicate')
      seen.add(name.toUpperCase())
    }
  }
  if (data.releasable.length > 1 && data.releasable.some(n => n.toUpperCase() === 'EVERYONE')) throw new Refusal('scheme-reserved')
  const frozen = { ...data, compartments: [...data.compartments].sort(), releasable: [...data.releasable].sort() }
  const namesake = builtins.find(s => s.name.toUpperCase() === data.name.toUpperCase())
  if (namesake && canonical(namesake) !== canonical(frozen)) throw new Refusal('scheme-reserved')
  return frozen
}

function checkName(name) {
  if (!/^[A-Za-z0-9](?: ?[A-Za-z0-9_.+-])*$/.test(name) || name.length > 64) throw new Refusal('scheme-invalid')
  if (/^(?:ABSENT|NOBODY|REL|REL .*)$/i.test(name)) throw new Refusal('scheme-reserved')
}

/** schemeDigest is over the canonical form of the data with both sets sorted. */
export const schemeDigest = data => createHash('sha256').update(canonical(checkScheme(data))).digest('hex')

/** fromParts reads the structured form: sorted sets, all of U written out. */
export function fromParts(s, { rank, compartments, releasable }) {
  if (!s.ranks.includes(rank)) throw new Refusal('rank-unknown')
  if (!compartments.every(c => s.compartments.includes(c))) throw new Refusal('compartment-unknown')
  if (!releasable.every(r => s.releasable.includes(r))) throw new Refusal('releasable-unknown')
  for (const set of [compartments, releasable]) {
    if (set.some((name, i) => i > 0 && set[i - 1] >= name)) throw new Refusal('label-not-canonical')
  }
  return { rank, compartments, releasable }
}

/** toText is the one text of a label. */
export function toText(s, { rank, compartments, releasable }) {
  let text = rank
  if (compartments.length) text += `//${compartments.join(',')}`
  if (releasable.length === 0) text += '//REL NOBODY'
  else if (releasable.length < s.releasable.length) text += `//REL ${releasable.join(',')}`
  return text
}

const longest = 64 + 2 * (2 + 64 * 65) + 4

/** fromText reads the one text of a label, a string of ASCII or of bytes.
 * Other spellings are read too, to say that they are not canonical. */
export function fromText(s, text) {
  if (text === '' || text.length > longest) throw new Refusal('label-syntax')
  const [rankText, ...rest] = text.split('//')
  const rank = trim(rankText)
  if (rank === '') throw new Refusal('label-syntax')
  if (!s.ranks.includes(rank)) throw new Refusal('rank-unknown')
  const label = { rank, compartments: [], releasable: s.releasable }
  if (rest.length && !isRelease(rest[0])) label.compartments = names(rest.shift(), s.compartments, 'compartment-unknown')
  if (rest.length) {
    if (!isRelease(rest[0]) || rest.length > 1) throw new Refusal('label-syntax')
    const list = rest[0].slice('REL '.length)
    if (trim(list) === '') throw new Refusal('label-syntax')
    label.releasable = trim(list) === 'NOBODY' ? [] : names(list, s.releasable, 'releasable-unknown')
  }
  if (toText(s, label) !== text) throw new Refusal('label-not-canonical')
  return label
}

const trim = text => text.replace(/^ +| +$/g, '')
const isRelease = part => part === 'REL' || part.startsWith('REL ')

function names(list, known, token) {
  const out = new Set()
  for (const item of list.split(',').map(trim)) {
    if (item === '') throw new Refusal('label-syntax')
    if (!known.includes(item)) throw new Refusal(token)
    out.add(item)
  }
  return [...out].sort()
}

/** lessEq: rank not above, compartments a subset, releasable a superset. */
export function lessEq(s, a, b) {
  return s.ranks.indexOf(a.rank) <= s.ranks.indexOf(b.rank) &&
    a.compartments.every(c => b.compartments.includes(c)) &&
    b.releasable.every(r => a.releasable.includes(r))
}

/** join is the least upper bound. */
export function join(s, a, b) {
  return {
    rank: s.ranks[Math.max(s.ranks.indexOf(a.rank), s.ranks.indexOf(b.rank))],
    compartments: [...new Set([...a.compartments, ...b.compartments])].sort(),
    releasable: a.releasable.filter(r => b.releasable.includes(r)),
  }
}
