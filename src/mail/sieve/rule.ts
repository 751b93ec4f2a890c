// Runs the scripts of all recipients of a mail over it, each compiled once as long as it is in use.

import type { FilteredMail } from './body.ts'
import type { Ruling, ScriptCall } from './ruling.ts'
import { runScript } from './run.ts'
import type { Script } from './script.ts'
import { compileScript } from './sieve.ts'
import { MailView } from './view.ts'

/** Compiled scripts kept in a thread: each is at most some ten times its text. */
const SCRIPTS_KEPT = 32

/** By their text: what is compiled never changes. Null for one that is right no longer. */
const compiled = new Map<string, Script | null>()

/** @returns a ruling for each recipient that has a script, in their order, null for the others */
export function rule(calls: readonly (ScriptCall | null)[], mail: FilteredMail, mailFrom: string): (Ruling | null)[] {
  const view = new MailView(mail)
  return calls.map((call) => {
    if (call === null) return null
    const script = compiledOf(call.content)
    if (script !== null) return runScript(script, view, { ...call, mailFrom })
    return { places: [{ kind: 'default' }], keywords: [], fault: 'The script is not valid any more.' }
  })
}

function compiledOf(content: string): Script | null {
  const known = compiled.get(content)
  const script = known === undefined ? compileScript(content).script : known
  // The one used last is forgotten last.
  compiled.delete(content)
  compiled.set(content, script)
  if (compiled.size > SCRIPTS_KEPT) compiled.delete(compiled.keys().next().value!)
  return script
}
