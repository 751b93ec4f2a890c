// A mail server that the load is sent to, and what it says about a message that it has received.

import { readFileSync } from 'node:fs'
import type { Usage } from '../processes.ts'

/** How many messages have passed each check. */
export interface Passed {
  messages: number
  spf: number
  dkim: number
  dmarc: number
}

export interface Target extends AsyncDisposable {
  port: number
  usage(): Usage
  /** How many messages a reader can see. */
  arrived(): Promise<number>
  /** Number of messages that a search finds by a word of the subject; missing for a server that has no search. */
  search?(word: string): Promise<number>
  /** The results of all messages, as a reader sees them; missing for a server that checks nothing. */
  passed?(): Promise<Passed>
}

/** Sums the usage of several children. */
export function sumUsage(usages: readonly Usage[]): Usage {
  const sum = (member: keyof Usage) => usages.reduce((total, usage) => total + usage[member], 0)
  return { cpuSeconds: sum('cpuSeconds'), mainSeconds: Number.NaN, memoryBytes: sum('memoryBytes') }
}

/** Counts the results in the `Authentication-Results` fields of message files. */
export function passedOf(files: readonly string[]): Passed {
  const counts: Passed = { messages: files.length, spf: 0, dkim: 0, dmarc: 0 }
  for (const file of files) {
    const text = readFileSync(file, 'latin1')
    const head = text.slice(0, /\r?\n\r?\n/.exec(text)?.index).replaceAll(/\r?\n[ \t]+/g, ' ')
    const fields = head.split(/\r?\n/).filter((line) => /^authentication-results:/i.test(line))
    for (const method of ['spf', 'dkim', 'dmarc'] as const)
      if (fields.some((field) => new RegExp(`[;\\s]${method}=pass\\b`).test(field))) counts[method]++
  }
  return counts
}

/**
 * All messages of the load come from where their domain says, and as many as were signed have a valid signature.
 * @throws Error naming the counts, when a check did not run or had another result
 */
export function checkPassed(name: string, passed: Passed, sent: { messages: number; signed: number }): void {
  const { messages, spf, dkim, dmarc } = passed
  const expected = [sent.messages, sent.messages, sent.signed, sent.messages]
  if ([messages, spf, dkim, dmarc].every((count, at) => count === expected[at])) return
  throw new Error(
    `${name}: of ${sent.messages} messages, ${sent.signed} signed, ${messages} were read; ${spf} passed SPF, ${dkim} DKIM and ${dmarc} DMARC.`,
  )
}
