// Ed25519: which 32 bytes are a key, and whether a signature verifies. The
// curve is computed here (RFC 8032, section 5.1); the signature is left to
// node:crypto, which does not look at the order of the key.

import { createHash, createPublicKey, verify } from 'node:crypto'
import { Refusal } from './check-json.mjs'

const p = 2n ** 255n - 19n
const l = 2n ** 252n + 27742317777372353535851937790883648493n
const mod = n => ((n % p) + p) % p

function power(base, exponent) {
  let out = 1n
  for (let b = mod(base), e = exponent; e > 0n; e >>= 1n, b = (b * b) % p) if (e & 1n) out = (out * b) % p
  return out
}

const d = mod(-121665n * power(121666n, p - 2n))
const rootOfMinusOne = power(2n, (p - 1n) / 4n)
const identity = { x: 0n, y: 1n, z: 1n, t: 0n }

/** point decodes 32 bytes in the one encoding that the point has; undefined otherwise. */
function point(bytes) {
  const number = BigInt(`0x${Buffer.from(bytes).reverse().toString('hex')}`)
  const y = number & (2n ** 255n - 1n)
  const sign = number >> 255n
  if (y >= p) return undefined
  const u = mod(y * y - 1n)
  const v = mod(d * y * y + 1n)
  let x = mod(u * v ** 3n * power(u * v ** 7n, (p - 5n) / 8n))
  if (mod(v * x * x) === mod(-u)) x = mod(x * rootOfMinusOne)
  if (mod(v * x * x) !== u || (x === 0n && sign === 1n)) return undefined
  if ((x & 1n) !== sign) x = p - x
  return { x, y, z: 1n, t: mod(x * y) }
}

/** add is complete on this curve: it doubles too. */
function add(a, b) {
  const m = mod((a.y - a.x) * (b.y - b.x))
  const n = mod((a.y + a.x) * (b.y + b.x))
  const c = mod(2n * d * a.t * b.t)
  const zz = mod(2n * a.z * b.z)
  const e = n - m
  const f = zz - c
  const g = zz + c
  const h = n + m
  return { x: mod(e * f), y: mod(g * h), z: mod(f * g), t: mod(e * h) }
}

function multiply(scalar, a) {
  let out = identity
  for (let n = scalar, b = a; n > 0n; n >>= 1n, b = add(b, b)) if (n & 1n) out = add(out, b)
  return out
}

const isIdentity = a => a.x === 0n && a.y === a.z

/** base64 of the one spelling: padded, standard alphabet, no bits left over. */
function base64(text) {
  const bytes = Buffer.from(text, 'base64')
  return bytes.toString('base64') === text ? bytes : undefined
}

const known = new Map()

/** readKey checks a public key as documents spell it and returns its 32 bytes. */
export function readKey(text) {
  if (!known.has(text)) known.set(text, verdictOf(text))
  const { bytes, token } = known.get(text)
  if (token) throw new Refusal(token)
  return bytes
}

function verdictOf(text) {
  const bytes = base64(text)
  if (!bytes) return { token: 'key-encoding' }
  if (bytes.length !== 32) return { token: 'key-size' }
  const a = point(bytes)
  if (!a) return { token: 'key-encoding' }
  if (isIdentity(multiply(8n, a))) return { token: 'key-small-order' }
  return isIdentity(multiply(l, a)) ? { bytes } : { token: 'key-mixed-order' }
}

/** readSignature returns the 64 bytes of a signature as documents spell it. */
export function readSignature(text) {
  const bytes = base64(text)
  if (bytes?.length !== 64) throw new Refusal('signature-encoding')
  return bytes
}

/** verifies: the signature is the key's over the domain and then the form. */
export function verifies(key, domain, form, signature) {
  const der = Buffer.concat([Buffer.from('302a300506032b6570032100', 'hex'), key])
  const publicKey = createPublicKey({ key: der, format: 'der', type: 'spki' })
  return verify(null, Buffer.from(domain + form), publicKey, signature)
}

/** fingerprint as ssh-keygen -l prints it. */
export function fingerprint(key) {
  const field = bytes => Buffer.concat([Buffer.from([0, 0, 0, bytes.length]), bytes])
  const wire = Buffer.concat([field(Buffer.from('ssh-ed25519')), field(key)])
  return `SHA256:${createHash('sha256').update(wire).digest('base64').replace(/=+$/, '')}`
}
