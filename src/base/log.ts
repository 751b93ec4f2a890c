// The log: pino, with every secret taken out by path and by pattern. JSON for programs, short lines at a terminal.

import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import { readableLine } from './log-text.ts'

export type Log = Logger

// A key in any string: the prefixes of decisions §1.2, bearer credentials, PEM private keys.
const SECRET =
  /\b(?:srk|smk|sok|sat|sax|clm)_[0-9A-Za-z]{20,}|\bwhsec_[\w-]{20,}|\bBearer\s+[\w.~+/-]+=*|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----/g

const PATHS = ['authorization', 'key', 'secret', 'password', 'token', 'smtp_password', 'private_key']

/** The same text without anything that opens a door. */
export function redact(text: string): string {
  return text.replace(SECRET, '[redacted]')
}

const STDOUT = 1

/** Whether somebody reads along: standard output is a terminal. Threads have no stream that would know. */
export function isAtTerminal(): boolean {
  return isatty(STDOUT)
}

/**
 * @param destination where lines go; standard output unless given
 * @param form JSON, or short lines for reading; by what standard output is, unless given
 */
export function openLog(
  level: string,
  destination?: DestinationStream,
  form: 'json' | 'text' = destination === undefined && isAtTerminal() ? 'text' : 'json',
): Log {
  const out = destination ?? pino.destination({ dest: STDOUT, sync: false })
  const show = form === 'text' ? (line: string) => readableLine(line, isAtTerminal()) : (line: string) => line
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      redact: { paths: PATHS.flatMap((name) => [name, `*.${name}`, `*.*.${name}`]), censor: '[redacted]' },
    },
    // The pattern runs over the finished line: a secret inside an error's message or stack is found there too.
    { write: (line: string) => out.write(show(redact(line))) },
  )
}
