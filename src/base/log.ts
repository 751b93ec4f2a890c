// The log: pino, with secrets redacted by path and by pattern. JSON for programs, short lines on a terminal.

import { isatty } from 'node:tty'
import { type DestinationStream, type Logger, pino } from 'pino'
import { readableLine } from './log-text.ts'

export type Log = Logger

// A key in any string: the prefixes of docs/design/http.md §2, bearer credentials, PEM private keys.
const SECRET =
  /\b(?:srk|smk|sok|sat|sax|clm)_[0-9A-Za-z]{20,}|\bwhsec_[\w-]{20,}|\bBearer\s+[\w.~+/-]+=*|-----BEGIN [A-Z ]*PRIVATE KEY-----[^-]*-----END [A-Z ]*PRIVATE KEY-----/g

const PATHS = ['authorization', 'key', 'secret', 'password', 'token', 'smtp_password', 'private_key']

/** The text with all credentials and private keys replaced. */
export function redact(text: string): string {
  return text.replace(SECRET, '[redacted]')
}

const STDOUT = 1

/** Whether standard output is a terminal. Works in threads as well, whose streams do not know. */
export function isAtTerminal(): boolean {
  return isatty(STDOUT)
}

/**
 * @param destination output stream; standard output unless given
 * @param form JSON, or short lines for people; by default depends on whether standard output is a terminal
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
    // The pattern is applied to the finished line, so that it covers messages and stacks of errors.
    { write: (line: string) => out.write(show(redact(line))) },
  )
}
