// Runs the scripts of all recipients of a message, with a cache of compiled scripts.

import type { FilteredMessage } from './body.ts'
import { compileScript } from './compile.ts'
import { MessageView } from './message-view.ts'
import { STEPS_MAX, WorkMeter } from './meter.ts'
import { failedOutcome, type ScriptCall, type SieveOutcome } from './outcome.ts'
import { runScript, type ScriptArrival } from './run.ts'
import type { SieveProgram } from './script.ts'

/** Total steps of all scripts for one message, and the steps each may use in any case. */
const MAIL_STEPS_MAX = 5 * STEPS_MAX
const STEPS_LEAST = 1_000_000

/** Compiled scripts cached per thread: each takes at most about ten times the memory of its text. */
const SCRIPTS_KEPT = 32

/** By their text. Null for a script that is no longer valid. */
const compiled = new Map<string, SieveProgram | null>()

/** @returns the outcome for each recipient with a script, in order, null for the others */
export function runScripts(
  calls: readonly (ScriptCall | null)[],
  mail: FilteredMessage,
  mailFrom: string,
  known: Omit<ScriptArrival, 'mailFrom'> = {},
): (SieveOutcome | null)[] {
  const view = new MessageView(mail)
  const arrival = { mailFrom, ...known }
  let left = MAIL_STEPS_MAX
  return calls.map((call) => {
    if (call === null) return null
    const meter = new WorkMeter(Math.max(STEPS_LEAST, Math.min(STEPS_MAX, left)))
    const outcome = runForRecipient(call, view, arrival, meter)
    left -= meter.spent
    return outcome
  })
}

function runForRecipient(call: ScriptCall, view: MessageView, arrival: ScriptArrival, meter: WorkMeter): SieveOutcome {
  try {
    const script = compiledOf(call.content)
    if (script === null) return failedOutcome('The script is no longer valid.')
    const { includes = {}, rcptTo, folders } = call
    const included = (name: string) => {
      const text = Object.hasOwn(includes, name) ? includes[name]! : undefined
      return text === undefined ? undefined : compiledOf(text)
    }
    return runScript(script, view, { rcptTo, folders, ...arrival, included }, meter)
  } catch {
    // An internal error: a script must never prevent delivery of a message.
    return failedOutcome('The script could not be run on this message.')
  }
}

function compiledOf(content: string): SieveProgram | null {
  const known = compiled.get(content)
  const script = known === undefined ? compileScript(content).script : known
  // Least recently used scripts are evicted first.
  compiled.delete(content)
  compiled.set(content, script)
  if (compiled.size > SCRIPTS_KEPT) compiled.delete(compiled.keys().next().value!)
  return script
}
