// Sieve, the language of a mailbox's own rules (RFC 5228): text in, a script that can be run or everything that is wrong with it out.

import { checkScript } from './check.ts'
import { type Problem, problemAt, ScriptFault } from './errors.ts'
import { parseScript } from './parser.ts'
import type { Script, Step, Test } from './script.ts'

export type { Problem } from './errors.ts'

/** Either the script, or what is wrong with it: at least one problem, at most PROBLEMS_MAX, in the order of the text. */
export type Compiled = { script: Script; problems: null } | { script: null; problems: Problem[] }

/** They are looked up for every mail the script is run over. */
const ASKS_MAX = 100

/** Never throws, whatever the text is. */
export function compileScript(content: string): Compiled {
  // RFC 5228 2.1 ends lines in CRLF; people's editors do not.
  const text = content.replaceAll('\r\n', '\n')
  try {
    const { steps, faults } = checkScript(parseScript(text))
    const asksFor = [...new Set(steps.flatMap(askedIn))]
    if (faults.length === 0 && asksFor.length > ASKS_MAX) {
      faults.push({ at: 0, message: `A script asks after at most ${ASKS_MAX} folders.` })
    }
    if (faults.length === 0) return { script: { steps, asksFor }, problems: null }
    faults.sort((one, other) => one.at - other.at)
    return { script: null, problems: faults.map(({ at, message }) => problemAt(text, at, message)) }
  } catch (error) {
    if (!(error instanceof ScriptFault)) throw error
    return { script: null, problems: [problemAt(text, error.at, error.message)] }
  }
}

function askedIn(step: Step): string[] {
  if (step.do !== 'choose') return []
  return step.branches.flatMap(({ test, steps }) => [...(test ? askedBy(test) : []), ...steps.flatMap(askedIn)])
}

function askedBy(test: Test): string[] {
  if (test.is === 'folders') return test.names
  if (test.is === 'not') return askedBy(test.test)
  return test.is === 'all' || test.is === 'any' ? test.tests.flatMap(askedBy) : []
}
