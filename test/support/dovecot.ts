// Dovecot as a reference: its IMAP program over a Maildir of given messages, spoken to by its standard input, without a port or an account.

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'

const PROGRAM = '/usr/lib/dovecot/imap'
/** User and group of the program, which refuses to run as root. */
const UNPRIVILEGED = 65534

/** INTERNALDATE of the first message, s since 1970; each further one is a second later. */
export const FIRST_RECEIVED = 1_700_000_000

/** For node:test's `skip`: false where Dovecot is installed, else the reason. */
export function dovecotMissing(): false | string {
  return existsSync(PROGRAM) ? false : `${PROGRAM} is not there: install dovecot-imapd`
}

/** A value of an IMAP response: an atom or number, NIL, a string as latin1 of its bytes, or a list. */
export type ImapValue = string | null | ImapText | ImapValue[]
export interface ImapText {
  text: string
}

export interface Dovecot extends Disposable {
  /** Runs a command and returns its untagged responses. @throws Error where the answer is not OK */
  run(command: string): Promise<ImapValue[][]>
  /** The items of FETCH of each message, by their names, in the order of the messages. */
  fetch(messages: string, items: string): Promise<Map<string, ImapValue>[]>
}

/** Starts Dovecot on an Inbox with these messages, numbered from 1 in their order. */
export async function startDovecot(messages: readonly Uint8Array[]): Promise<Dovecot> {
  const folder = mkdtempSync(join(tmpdir(), 'mailstead-dovecot-'))
  const own = (path: string) => {
    chmodSync(path, 0o755)
    if (process.getuid?.() === 0) chownSync(path, UNPRIVILEGED, UNPRIVILEGED)
  }
  own(folder)
  for (const name of ['run', 'Maildir', 'Maildir/cur', 'Maildir/new', 'Maildir/tmp']) {
    mkdirSync(join(folder, name))
    own(join(folder, name))
  }
  for (const [at, bytes] of messages.entries()) {
    const seconds = FIRST_RECEIVED + at
    const name = join(folder, 'Maildir/cur', `${seconds}.M${at}.here:2,`)
    writeFileSync(name, bytes)
    utimesSync(name, seconds, seconds)
    own(name)
  }
  const settings = ['base_dir', 'mail_location', 'log_path', 'ssl', 'mail_fsync', 'first_valid_uid']
  const values = [join(folder, 'run'), `maildir:${join(folder, 'Maildir')}`, join(folder, 'log'), 'no', 'never', '1']
  const file = join(folder, 'dovecot.conf')
  writeFileSync(file, `${settings.map((name, at) => `${name} = ${values[at]}`).join('\n')}\n`)
  own(file)
  const identity = process.getuid?.() === 0 ? { uid: UNPRIVILEGED, gid: UNPRIVILEGED } : {}
  const child = spawn(PROGRAM, ['-c', file], { cwd: folder, env: { HOME: folder, USER: 'reader' }, ...identity })
  const session = new ImapDialogue(child)
  await session.run('SELECT INBOX')
  return {
    run: (command) => session.run(command),
    async fetch(numbers, items) {
      const responses = await session.run(`FETCH ${numbers} (${items})`)
      return responses.filter((response) => response[1] === 'FETCH').map((response) => itemsOf(response[2]!))
    },
    [Symbol.dispose]() {
      child.kill()
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function itemsOf(list: ImapValue): Map<string, ImapValue> {
  if (!Array.isArray(list)) throw new Error('FETCH without a list.')
  const items = new Map<string, ImapValue>()
  for (let at = 0; at + 1 < list.length; at += 2) items.set(list[at] as string, list[at + 1]!)
  return items
}

/** One command after another over the program's standard streams. */
class ImapDialogue {
  readonly #child: ChildProcessWithoutNullStreams
  #received: Buffer[] = []
  #count = 0
  #waiting: (() => void) | null = null
  #isClosed = false

  constructor(child: ChildProcessWithoutNullStreams) {
    this.#child = child
    child.stdout.on('data', (bytes: Buffer) => {
      this.#received.push(bytes)
      this.#waiting?.()
    })
    child.stdin.on('error', () => {})
    child.on('close', () => {
      this.#isClosed = true
      this.#waiting?.()
    })
  }

  async run(command: string): Promise<ImapValue[][]> {
    const tag = `t${++this.#count}`
    this.#received = []
    this.#child.stdin.write(`${tag} ${command}\r\n`)
    for (;;) {
      const last = this.#received.at(-1)
      // A cheap look first: the tagged line is the last one.
      if (last?.subarray(-2).equals(Buffer.from('\r\n'))) {
        const bytes = Buffer.concat(this.#received)
        this.#received = [bytes]
        const line = bytes.toString('latin1', bytes.lastIndexOf('\r\n', bytes.length - 3) + 2)
        if (line.startsWith(`${tag} `)) return answered(bytes, line, tag)
      }
      if (this.#isClosed) throw new Error(`Dovecot ended: ${Buffer.concat(this.#received)}`)
      await new Promise<void>((resolve) => (this.#waiting = resolve))
    }
  }
}

function answered(bytes: Buffer, line: string, tag: string): ImapValue[][] {
  if (!line.startsWith(`${tag} OK`)) throw new Error(line)
  return new ResponseReader(bytes.toString('latin1')).untagged()
}

/** Parses responses; those without the structure of data (`* OK …`) are left out. */
class ResponseReader {
  readonly #text: string
  #pos = 0

  constructor(text: string) {
    this.#text = text
  }

  untagged(): ImapValue[][] {
    const responses: ImapValue[][] = []
    while (this.#text.startsWith('* ', this.#pos)) {
      this.#pos += 2
      if (/^(?:OK|NO|BAD|BYE|PREAUTH)/.test(this.#text.slice(this.#pos, this.#pos + 7))) {
        this.#pos = this.#text.indexOf('\r\n', this.#pos) + 2
      } else {
        responses.push(this.values('\r'))
        this.#pos += 2
      }
    }
    return responses
  }

  /** Values up to the closing character, which is not consumed. */
  values(close: string): ImapValue[] {
    const found: ImapValue[] = []
    while (this.#text[this.#pos] !== close) {
      if (this.#pos >= this.#text.length) throw new Error('The response is not complete.')
      if (this.#text[this.#pos] === ' ') this.#pos++
      else found.push(this.#value())
    }
    return found
  }

  #value(): ImapValue {
    const character = this.#text[this.#pos]
    if (character === '(') {
      this.#pos++
      const list = this.values(')')
      this.#pos++
      return list
    }
    if (character === '"') return this.#quoted()
    const literal = /~?\{(\d+)\}\r\n/y
    literal.lastIndex = this.#pos
    const size = literal.exec(this.#text)?.[1]
    if (size !== undefined) {
      const start = literal.lastIndex
      this.#pos = start + Number(size)
      return { text: this.#text.slice(start, this.#pos) }
    }
    const atom = /(?:[^\s()[\]"]|\[[^\]]*\])+/y
    atom.lastIndex = this.#pos
    const found = atom.exec(this.#text)![0]
    this.#pos = atom.lastIndex
    return found === 'NIL' ? null : found
  }

  #quoted(): ImapText {
    const start = this.#pos + 1
    let at = start
    while (this.#text[at] !== '"') at += this.#text[at] === '\\' ? 2 : 1
    this.#pos = at + 1
    return { text: this.#text.slice(start, at).replace(/\\(.)/g, '$1') }
  }
}

/** Values of an answer of our own, written as bytes. */
export function readValues(bytes: Uint8Array): ImapValue[] {
  return new ResponseReader(`${Buffer.from(bytes).toString('latin1')}\r`).values('\r')
}
