// Runs a Sieve script over a mail and says in short what came of it.

import assert from 'node:assert/strict'
import { parseMail } from '../../src/mime/parse.ts'
import { MailView } from '../../src/sieve/message-view.ts'
import type { Ruling } from '../../src/sieve/outcome.ts'
import { runScript, type Surroundings } from '../../src/sieve/run.ts'
import { compileScript } from '../../src/sieve/sieve.ts'

/** A mail of lines. */
export function bytesOf(...lines: string[]): Uint8Array {
  return Buffer.from(lines.join('\r\n'))
}

export function ruling(script: string, bytes: Uint8Array, around: Partial<Surroundings> = {}): Ruling {
  const { script: compiled, problems } = compileScript(script)
  assert.equal(problems, null, script.slice(0, 500))
  const mail = parseMail(bytes)
  const view = new MailView({ bytes, root: mail.structure, text: mail.searchText })
  return runScript(compiled!, view, { mailFrom: 'ann@out.test', rcptTo: 'ken@example.com', folders: [], ...around })
}

/** "keep", "discard", or the folders, with the keywords behind them. */
export function outcome(script: string, bytes: Uint8Array, around: Partial<Surroundings> = {}): string {
  const { places, keywords, fault } = ruling(script, bytes, around)
  assert.equal(fault, null, script.slice(0, 500))
  const where = places.map((place) => (place.kind === 'default' ? 'keep' : `${place.create ? '+' : ''}${place.path}`))
  return [where.join(', ') || 'discard', ...keywords].join(' ')
}

/** Whether a test holds for a mail; what it needs is asked for. */
export function holds(test: string, bytes: Uint8Array, around: Partial<Surroundings> = {}): boolean {
  const needs =
    '["envelope", "imap4flags", "mailbox", "subaddress", "relational", "body", "comparator-i;ascii-numeric", "encoded-character"]'
  return outcome(`require ${needs};\nif ${test} { discard; }`, bytes, around) === 'discard'
}

/** "line:column message" of everything that is wrong with a script. */
export function problemsOf(script: string): string[] {
  return (compileScript(script).problems ?? []).map(({ line, column, message }) => `${line}:${column} ${message}`)
}
