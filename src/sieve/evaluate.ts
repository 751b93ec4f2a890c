// Runs the scripts of all recipients of a mail over it, each compiled once as long as it is in use.

import type { FilteredMail } from './body.ts'
import { MailView } from './message-view.ts'
import { Meter, STEPS_MAX } from './meter.ts'
import type { Ruling, ScriptCall } from './outcome.ts'
import { runScript } from './run.ts'
import type { Script } from './script.ts'
import { compileScript } from './sieve.ts'

/** Work of all scripts over one mail, and what each may do whatever the others did. */
const MAIL_STEPS_MAX = 5 * STEPS_MAX
const STEPS_LEAST = 1_000_000

/** Compiled scripts kept in a thread: each is at most some ten times its text. */
const SCRIPTS_KEPT = 32

/** By their text: what is compiled never changes. Null for one that is right no longer. */
const compiled = new Map<string, Script | null>()

/** @returns a ruling for each recipient that has a script, in their order, null for the others */
export function rule(calls: readonly (ScriptCall | null)[], mail: FilteredMail, mailFrom: string): (Ruling | null)[] {
  const view = new MailView(mail)
  let left = MAIL_STEPS_MAX
  return calls.map((call) => {
    if (call === null) return null
    const meter = new Meter(Math.max(STEPS_LEAST, Math.min(STEPS_MAX, left)))
    const ruling = ruleOne(call, view, mailFrom, meter)
    left -= meter.spent
    return ruling
  })
}

function ruleOne(call: ScriptCall, view: MailView, mailFrom: string, meter: Meter): Ruling {
  const failed = (fault: string): Ruling => ({ places: [{ kind: 'default' }], keywords: [], fault })
  try {
    const script = compiledOf(call.content)
    return script ? runScript(script, view, { ...call, mailFrom }, meter) : failed('The script is not valid any more.')
  } catch {
    // Whatever is wrong with us: a mail must not be put off for ever because of a script.
    return failed('The script could not be run over this mail.')
  }
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
