// Runs a Sieve script over a mail and says in short what came of it.

import assert from 'node:assert/strict'
import { parseMessage } from '../../src/mime/parse.ts'
import { compileScript } from '../../src/sieve/compile.ts'
import { MessageView } from '../../src/sieve/message-view.ts'
import type { SieveOutcome } from '../../src/sieve/outcome.ts'
import { runScript, type ScriptContext } from '../../src/sieve/run.ts'

/** A mail of lines. */
export function bytesOf(...lines: string[]): Uint8Array {
  return Buffer.from(lines.join('\r\n'))
}

export function ruling(script: string, bytes: Uint8Array, around: Partial<ScriptContext> = {}): SieveOutcome {
  const { script: compiled, problems } = compileScript(script)
  assert.equal(problems, null, script.slice(0, 500))
  const mail = parseMessage(bytes)
  const view = new MessageView({ bytes, root: mail.structure, text: mail.searchText })
  return runScript(compiled!, view, { mailFrom: 'ann@out.test', rcptTo: 'ken@example.com', folders: [], ...around })
}

/** "keep", "discard", or the folders, with the keywords behind them. */
export function outcome(script: string, bytes: Uint8Array, around: Partial<ScriptContext> = {}): string {
  const { targets: places, keywords, error: fault } = ruling(script, bytes, around)
  assert.equal(fault, null, script.slice(0, 500))
  const where = places.map((place) => (place.kind === 'default' ? 'keep' : `${place.create ? '+' : ''}${place.path}`))
  return [where.join(', ') || 'discard', ...keywords].join(' ')
}

/** Whether a test holds for a mail; what it needs is asked for. */
export function holds(test: string, bytes: Uint8Array, around: Partial<ScriptContext> = {}): boolean {
  const needs =
    '["envelope", "imap4flags", "mailbox", "subaddress", "relational", "body", "comparator-i;ascii-numeric", "encoded-character"]'
  return outcome(`require ${needs};\nif ${test} { discard; }`, bytes, around) === 'discard'
}

/** "line:column message" of everything that is wrong with a script. */
export function problemsOf(script: string): string[] {
  return (compileScript(script).problems ?? []).map(({ line, column, message }) => `${line}:${column} ${message}`)
}
