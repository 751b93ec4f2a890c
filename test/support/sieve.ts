// Runs a Sieve script on a message and shows the outcome in short.

import assert from 'node:assert/strict'
import { parseMessage } from '../../src/mime/parse.ts'
import { compileScript } from '../../src/sieve/compile.ts'
import { MessageView } from '../../src/sieve/message-view.ts'
import type { SieveOutcome } from '../../src/sieve/outcome.ts'
import { runScript, type ScriptContext } from '../../src/sieve/run.ts'

/** A message of lines. */
export function bytesOf(...lines: string[]): Uint8Array {
  return Buffer.from(lines.join('\r\n'))
}

export function runScriptOn(script: string, bytes: Uint8Array, around: Partial<ScriptContext> = {}): SieveOutcome {
  const { script: compiled, problems } = compileScript(script)
  assert.equal(problems, null, script.slice(0, 500))
  const mail = parseMessage(bytes)
  const view = new MessageView({ bytes, root: mail.structure, text: mail.searchText })
  return runScript(compiled!, view, { mailFrom: 'ann@out.test', rcptTo: 'ken@example.com', folders: [], ...around })
}

/** "keep", "discard", or the folders, followed by the keywords. */
export function outcome(script: string, bytes: Uint8Array, around: Partial<ScriptContext> = {}): string {
  const { targets: places, keywords, error: fault } = runScriptOn(script, bytes, around)
  assert.equal(fault, null, script.slice(0, 500))
  const where = places.map((place) => (place.kind === 'default' ? 'keep' : `${place.create ? '+' : ''}${place.path}`))
  return [where.join(', ') || 'discard', ...keywords].join(' ')
}

/** Whether a Sieve test is true for a message; required extensions are added. */
export function holds(test: string, bytes: Uint8Array, around: Partial<ScriptContext> = {}): boolean {
  const needs =
    '["envelope", "imap4flags", "mailbox", "subaddress", "relational", "body", "comparator-i;ascii-numeric", "encoded-character"]'
  return outcome(`require ${needs};\nif ${test} { discard; }`, bytes, around) === 'discard'
}

/** "line:column message" of every error in a script. */
export function problemsOf(script: string): string[] {
  return (compileScript(script).problems ?? []).map(({ line, column, message }) => `${line}:${column} ${message}`)
}
