// Strict JSON on bytes, and its one form (RFC 8785).
//
// Written from the documentation of the format, not from the Go source: a
// recursive descent over the bytes that stops at the first fault.

/** Refusal is a closed reason token, with a byte offset where there is one. */
export class Refusal extends Error {
  constructor(token, offset) {
    super(offset === undefined ? token : `${token} at byte ${offset}`)
    this.token = token
    this.offset = offset
  }
}

/** Shapes: what parse may be told to expect. Without one any value goes. */
export const string = { type: 'string' }
export const integer = { type: 'integer' }
export const boolean = { type: 'boolean' }
export const array = of => ({ type: 'array', of })
/** text is a string that take has to accept; what take returns is the value. */
export const text = take => ({ type: 'string', take })
/** object has exactly these fields; those named in optional may be left out. */
export const object = (fields, ...optional) => ({ type: 'object', fields: new Map(Object.entries(fields)), optional: new Set(optional) })

/** parse reads one document. Objects become Maps, in the order of the bytes. */
export function parse(bytes, { limitBytes = 1 << 20, limitDepth = 32, shape } = {}) {
  if (bytes.length > limitBytes) throw new Refusal('too-large', limitBytes)
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) throw new Refusal('byte-order-mark', 0)
  const reader = new Reader(bytes, limitDepth)
  const value = reader.value(shape)
  reader.space()
  if (reader.at < bytes.length) throw new Refusal('trailing-bytes', reader.at)
  return value
}

/** transform is the RFC 8785 form of a document, as text. */
export function transform(bytes, options = {}) {
  const out = canonical(parse(bytes, options))
  const limit = options.limitBytes ?? 1 << 20
  if (Buffer.byteLength(out) > limit) throw new Refusal('too-large', limit)
  return out
}

/** canonical is the RFC 8785 form of a value: of what parse returns, or of plain objects. */
export function canonical(value) {
  if (value instanceof Map) {
    const keys = [...value.keys()].sort(byUnits)
    return `{${keys.map(k => `${JSON.stringify(k)}:${canonical(value.get(k))}`).join(',')}}`
  }
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (value !== null && typeof value === 'object') return canonical(new Map(Object.entries(value)))
  return typeof value === 'number' ? String(value) : JSON.stringify(value)
}

const byUnits = (a, b) => (a < b ? -1 : a > b ? 1 : 0)

/** sameLetters: equal but for case, letter by letter, by Unicode simple folding. */
export function sameLetters(a, b) {
  const x = [...a]
  const y = [...b]
  return x.length === y.length && x.every((c, i) => c === y[i] || sameLetter(c, y[i]))
}

// The flags i and u together are ECMAScript's name for simple case folding.
const sameLetter = (a, b) => new RegExp(`^\\u{${a.codePointAt(0).toString(16)}}$`, 'iu').test(b)

class Reader {
  constructor(bytes, limitDepth) {
    this.bytes = bytes
    this.at = 0
    this.depth = 0
    this.limitDepth = limitDepth
  }

  space() {
    while ([0x20, 0x09, 0x0a, 0x0d].includes(this.bytes[this.at])) this.at++
  }

  /** fault is thrown where the bytes stop being JSON, or stop being UTF-8. */
  fault(at = this.at) {
    if (at >= this.bytes.length) return new Refusal('json-syntax', this.bytes.length)
    return new Refusal(decode(this.bytes, at) ? 'json-syntax' : 'bad-utf8', at)
  }

  value(shape) {
    this.space()
    const start = this.at
    const first = String.fromCharCode(this.bytes[start] ?? 0)
    if (first === '{' || first === '[') return this.nested(first, shape)
    if (first === '"') return this.shaped(this.string(), 'string', shape, start)
    if (first === '-' || (first >= '0' && first <= '9')) return this.shaped(this.number(), 'number', shape, start)
    for (const [word, value] of [['true', true], ['false', false], ['null', null]]) {
      if (first === word[0]) return this.shaped(this.word(word, value), value === null ? 'null' : 'boolean', shape, start)
    }
    throw this.fault()
  }

  /** shaped refuses a value of another type than the one that is expected. */
  shaped(value, type, shape, start) {
    if (!shape) return value
    const whole = type === 'number' && Number.isInteger(value) && value >= -(2 ** 63) && value < 2 ** 63
    if (shape.type !== type && !(shape.type === 'integer' && whole)) throw new Refusal('wrong-type', start)
    return shape.take ? shape.take(value) : value
  }

  nested(first, shape) {
    const start = this.at++
    if (++this.depth > this.limitDepth) throw new Refusal('too-deep', start)
    if (shape && shape.type !== (first === '{' ? 'object' : 'array')) throw new Refusal('wrong-type', start)
    const value = first === '{' ? this.object(shape, start) : this.array(shape)
    this.depth--
    return value
  }

  /** members calls one for each member up to the closing byte. */
  members(close, one) {
    this.space()
    if (this.bytes[this.at] === close) return this.at++
    for (;;) {
      one()
      this.space()
      if (this.bytes[this.at] === close) return this.at++
      if (this.bytes[this.at] !== 0x2c) throw this.fault()
      const comma = this.at++
      this.space()
      if (this.bytes[this.at] === close) throw this.fault(comma)
    }
  }

  array(shape) {
    const out = []
    this.members(0x5d, () => out.push(this.value(shape?.of)))
    return out
  }

  object(shape, start) {
    const out = new Map()
    this.members(0x7d, () => {
      this.space()
      const at = this.at
      if (this.bytes[at] !== 0x22) throw this.fault()
      const key = this.string()
      this.key(key, at, out, shape)
      this.space()
      if (this.bytes[this.at] !== 0x3a) throw this.fault()
      this.at++
      out.set(key, this.value(shape?.fields.get(key)))
    })
    for (const field of shape?.fields.keys() ?? []) {
      if (!out.has(field) && !shape.optional.has(field)) throw new Refusal('missing-field', start)
    }
    return out
  }

  key(key, at, seen, shape) {
    if (shape && !shape.fields.has(key)) {
      const meant = [...shape.fields.keys()].some(field => sameLetters(field, key))
      throw new Refusal(meant ? 'case-key' : 'unknown-field', at)
    }
    if (seen.has(key)) throw new Refusal('duplicate-key', at)
    for (const other of seen.keys()) if (sameLetters(other, key)) throw new Refusal('case-key', at)
  }

  word(word, value) {
    for (const c of word) {
      if (this.bytes[this.at] !== c.charCodeAt(0)) throw this.fault()
      this.at++
    }
    return value
  }

  string() {
    let out = ''
    for (this.at++; ;) {
      const byte = this.bytes[this.at]
      if (byte === undefined || byte < 0x20) throw this.fault()
      if (byte === 0x22) {
        this.at++
        return out
      }
      if (byte === 0x5c) {
        out += this.escape()
        continue
      }
      const c = decode(this.bytes, this.at)
      if (!c) throw new Refusal('bad-utf8', this.at)
      out += String.fromCodePoint(c.code)
      this.at += c.size
    }
  }

  escape() {
    const start = this.at
    const letter = this.bytes[start + 1]
    if (letter === undefined) throw this.fault(this.bytes.length)
    const simple = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' }[String.fromCharCode(letter)]
    if (simple !== undefined) {
      this.at += 2
      return simple
    }
    if (letter !== 0x75) throw this.fault(start)
    const unit = this.unit(start)
    if (unit < 0xd800 || unit > 0xdfff) return String.fromCharCode(unit)
    if (unit > 0xdbff) throw new Refusal('lone-surrogate', start)
    if (this.at >= this.bytes.length) throw this.fault()
    if (this.bytes[this.at] !== 0x5c || this.bytes[this.at + 1] !== 0x75) throw new Refusal('lone-surrogate', start)
    const low = this.unit(this.at)
    if (low < 0xdc00 || low > 0xdfff) throw new Refusal('lone-surrogate', start)
    return String.fromCharCode(unit, low)
  }

  /** unit reads \uXXXX. */
  unit(start) {
    const digits = this.bytes.subarray(start + 2, start + 6).toString('latin1')
    if (!/^[0-9a-fA-F]{4}$/.test(digits)) {
      throw this.fault(/^[0-9a-fA-F]*$/.test(digits) && start + 2 + digits.length === this.bytes.length ? this.bytes.length : start)
    }
    this.at = start + 6
    return parseInt(digits, 16)
  }

  number() {
    const start = this.at
    const digits = () => {
      if (!isDigit(this.bytes[this.at])) throw this.fault()
      while (isDigit(this.bytes[this.at])) this.at++
    }
    if (this.bytes[this.at] === 0x2d) this.at++
    if (this.bytes[this.at] === 0x30) this.at++
    else digits()
    if (this.bytes[this.at] === 0x2e) {
      this.at++
      digits()
    }
    if (this.bytes[this.at] === 0x65 || this.bytes[this.at] === 0x45) {
      this.at++
      if (this.bytes[this.at] === 0x2b || this.bytes[this.at] === 0x2d) this.at++
      digits()
    }
    const token = this.bytes.subarray(start, this.at).toString('latin1')
    if (!isExact(token)) throw new Refusal('number-inexact', start)
    return Number(token)
  }
}

const isDigit = byte => byte >= 0x30 && byte <= 0x39

/** isExact: the shortest decimal of the float64 has the value of the token,
 * and a whole number is that float64 exactly. No zero has a sign. */
function isExact(token) {
  const number = Number(token)
  const exact = decimal(token)
  if (!Number.isFinite(number) || Object.is(number, -0)) return false
  if (exact.digits === 0n) return number === 0
  const shortest = decimal(String(number))
  if (number === 0 || shortest.digits !== exact.digits || shortest.exponent !== exact.exponent) return false
  return exact.exponent < 0n || BigInt(number) === exact.digits * 10n ** exact.exponent
}

/** decimal is the value of a token: digits without zeros at the end, times a power of ten. */
function decimal(token) {
  const [, sign, whole, fraction = '', power = '0'] = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(token)
  const significant = (whole + fraction).replace(/0+$/, '')
  const zeros = whole.length + fraction.length - significant.length
  const digits = BigInt(sign + (significant || '0'))
  return { digits, exponent: digits === 0n ? 0n : BigInt(power) - BigInt(fraction.length) + BigInt(zeros) }
}

/** decode reads one UTF-8 character (RFC 3629), undefined if there is none. */
export function decode(bytes, at) {
  const lead = bytes[at]
  if (lead < 0x80) return { code: lead, size: 1 }
  const size = lead >= 0xc2 && lead <= 0xdf ? 2 : lead >= 0xe0 && lead <= 0xef ? 3 : lead >= 0xf0 && lead <= 0xf4 ? 4 : 0
  if (!size || at + size > bytes.length) return undefined
  let code = lead & (0xff >> (size + 1))
  for (let i = 1; i < size; i++) {
    if ((bytes[at + i] & 0xc0) !== 0x80) return undefined
    code = (code << 6) | (bytes[at + i] & 0x3f)
  }
  const least = [0, 0, 0x80, 0x800, 0x10000][size]
  return code < least || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? undefined : { code, size }
}
