// The form of app passwords (docs/design/mail-programs.md §1.1): 20 characters that are easy to type, the last two of which check the others.

import { randomBytes } from 'node:crypto'
import { crc32 } from 'node:zlib'

/** `a-z2-9` without i, l and o, which are mistaken for digits. */
const ALPHABET = 'abcdefghjkmnpqrstuvwxyz23456789'
const LENGTH = 20
const CHECK_LENGTH = 2
const GROUP = 5
/** The largest multiple of 31 below 256: larger bytes are discarded, so that all characters are equally likely. */
const FAIR = 248
/** Longest input that is read: with a separator after every character. */
const INPUT_MAX = 2 * LENGTH

/** A new app password: 18 random characters (89 bits) and 2 that check them. */
export function newAppSecret(): string {
  let body = ''
  while (body.length < LENGTH - CHECK_LENGTH) {
    for (const byte of randomBytes(32)) {
      if (byte < FAIR && body.length < LENGTH - CHECK_LENGTH) body += ALPHABET[byte % ALPHABET.length]
    }
  }
  return body + checkOf(body)
}

/** The second spelling shown: groups of five, with hyphens between them. */
export function groupedAppSecret(secret: string): string {
  return secret.match(new RegExp(`.{${GROUP}}`, 'g'))!.join('-')
}

/**
 * Reads an app password as a person types it: case, spaces and hyphens do not matter.
 * @returns its stored form; null for text that cannot be one, which costs no database read
 */
export function readAppSecret(typed: string): string | null {
  if (typed.length > INPUT_MAX) return null
  const secret = typed.replace(/[ -]/g, '').toLowerCase()
  if (secret.length !== LENGTH || ![...secret].every((character) => ALPHABET.includes(character))) return null
  return checkOf(secret.slice(0, -CHECK_LENGTH)) === secret.slice(-CHECK_LENGTH) ? secret : null
}

function checkOf(body: string): string {
  const base = ALPHABET.length
  const rest = crc32(body) % base ** CHECK_LENGTH
  return ALPHABET[Math.floor(rest / base)]! + ALPHABET[rest % base]!
}
