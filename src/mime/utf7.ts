// Modified UTF-7 of RFC 3501 §5.1.3: names of mailboxes in sessions without UTF-8.

const AMPERSAND = 0x26
const MINUS = 0x2d
const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+,'
const VALUES = new Map([...DIGITS].map((digit, value) => [digit.charCodeAt(0), value]))

/** Encodes text; printable ASCII stands for itself. */
export function encodeUtf7(text: string): string {
  let encoded = ''
  let shifted = ''
  const flush = () => {
    if (shifted === '') return
    const bytes = Buffer.from(shifted, 'utf16le').swap16()
    encoded += `&${bytes.toString('base64').replaceAll('=', '').replaceAll('/', ',')}-`
    shifted = ''
  }
  for (const unit of utf16(text)) {
    const code = unit.charCodeAt(0)
    if (code < 0x20 || code > 0x7e) shifted += unit
    else {
      flush()
      encoded += code === AMPERSAND ? '&-' : unit
    }
  }
  flush()
  return encoded
}

/**
 * Decodes modified UTF-7.
 * @returns null when the bytes are no valid form: 8-bit bytes, ASCII in base64, pieces that are not needed or do not end, half surrogates
 */
export function decodeUtf7(bytes: Uint8Array): string | null {
  let text = ''
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]!
    if (byte < 0x20 || byte > 0x7e) return null
    if (byte !== AMPERSAND) {
      text += String.fromCharCode(byte)
      continue
    }
    const end = bytes.indexOf(MINUS, at)
    if (end < 0) return null
    const piece = end === at + 1 ? '&' : decodeShifted(bytes.subarray(at + 1, end))
    // "&AAA-&BBB-" must be written as one piece.
    if (piece === null || (end > at + 1 && bytes[end + 1] === AMPERSAND && bytes[end + 2] !== MINUS)) return null
    text += piece
    at = end
  }
  return text.isWellFormed() ? text : null
}

function decodeShifted(digits: Uint8Array): string | null {
  let text = ''
  let bits = 0
  let size = 0
  for (const digit of digits) {
    const value = VALUES.get(digit)
    if (value === undefined) return null
    bits = ((bits << 6) | value) & 0x3fffff
    size += 6
    if (size < 16) continue
    size -= 16
    const code = (bits >> size) & 0xffff
    if (code >= 0x20 && code <= 0x7e) return null
    text += String.fromCharCode(code)
  }
  const rest = bits & ((1 << size) - 1)
  return text === '' || size >= 6 || rest !== 0 ? null : text
}

function* utf16(text: string): Iterable<string> {
  for (let at = 0; at < text.length; at++) yield text[at]!
}
