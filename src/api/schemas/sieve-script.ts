// A Sieve script of a mailbox, and errors in one.

import { type Static, Type } from 'typebox'
import { type SieveScript as Kept, SCRIPT_NAME_MAX, type SieveText } from '../../directory/mailboxes/sieve-scripts.ts'
import { presenterOf } from '../../http/present.ts'
import { Id } from '../../http/schema.ts'
import { PROBLEMS_MAX } from '../../sieve/check.ts'
import { compileScript } from '../../sieve/compile.ts'
import { EXTENSIONS } from '../../sieve/extensions.ts'
import { SCRIPT_BYTES_MAX } from '../../sieve/lexer.ts'
import { record } from './record.ts'
import { TimeOf } from './time.ts'

/** Text of the examples. */
export const SCRIPT = 'require "fileinto";\nif header :contains "list-id" "news" {\n  fileinto "News";\n}\n'

// RFC 5804 §1.6: ManageSieve must be able to represent each name.
export const ScriptName = Type.String({
  ...{ minLength: 1, maxLength: SCRIPT_NAME_MAX, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f\\u2028\\u2029]+$' },
  description: 'Unique in the mailbox; no control characters.',
  examples: ['Lists'],
})
export const ScriptContent = Type.String({
  maxLength: SCRIPT_BYTES_MAX,
  description: `Sieve (RFC 5228) with the extensions ${[...EXTENSIONS].join(', ')}; at most ${SCRIPT_BYTES_MAX} bytes.`,
  examples: [SCRIPT],
})

const MEMBERS = {
  id: Id('sieveScript'),
  name: ScriptName,
  is_active: Type.Boolean({ description: 'True for the script that is run for received messages.' }),
  size_bytes: Type.Integer({ minimum: 0 }),
  created_at: TimeOf('When it was created.'),
  updated_at: TimeOf('When its name or text last changed.'),
}
const EXAMPLE = {
  id: 'sve_0a1b2c3d4e5f6g7h8i9j0k1l',
  name: 'Lists',
  is_active: true,
  size_bytes: SCRIPT.length,
  created_at: '2030-01-02T03:04:05.000Z',
  updated_at: '2030-01-02T03:04:05.000Z',
}

export const SieveScriptJson = record('SieveScript', 'A script without its text.', MEMBERS, EXAMPLE)
export type SieveScriptJson = Static<typeof SieveScriptJson>

const ScriptProblem = record('SieveProblem', 'An error in a script, or a command without effect.', {
  line: Type.Integer({ minimum: 1 }),
  column: Type.Integer({ minimum: 1, description: 'Column in characters.' }),
  message: Type.String(),
})
const ScriptWarnings = Type.Array(ScriptProblem, {
  maxItems: PROBLEMS_MAX,
  description: 'Commands that are valid and have no effect, in the order of the text.',
})

export const SieveScriptDetail = record(
  'SieveScriptDetail',
  'A script with its text.',
  { ...MEMBERS, content: ScriptContent, warnings: ScriptWarnings },
  { ...EXAMPLE, content: SCRIPT, warnings: [] },
)
export type SieveScriptDetail = Static<typeof SieveScriptDetail>

export const ScriptCheck = record('SieveCheck', 'Whether a script is valid.', {
  valid: Type.Boolean(),
  errors: Type.Array(ScriptProblem, { maxItems: PROBLEMS_MAX, description: 'In the order of the text.' }),
  warnings: ScriptWarnings,
})

export const presentScript = presenterOf<Kept>()(SieveScriptJson)

export function presentScriptDetail(script: SieveText): SieveScriptDetail {
  return { ...presentScript(script), content: script.content, warnings: compileScript(script.content).warnings }
}
