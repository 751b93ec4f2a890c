// Random IMAP commands: made by the grammar, and then damaged byte by byte.

import type { Random } from './random.ts'

const FLAGS = ['\\Seen', '\\Deleted', '\\Flagged', '\\Recent', '$Junk', 'foo', '\\Nope', 'a]b', '']
const NAMES = [
  'INBOX',
  '"a b"',
  'a/b/c',
  '&AOk-',
  '&-',
  '""',
  '{3}\r\nabc',
  '{4+}\r\nINBO',
  '"\\"x\\\\"',
  'NIL',
  '\u00e9',
]
const NUMBERS = ['0', '1', '2', '*', '4294967295', '4294967296', '18446744073709551616', '-1', '007']
const STRINGS = [
  'foo',
  '"bar"',
  '{0}\r\n',
  '{0+}\r\n',
  '{5}\r\nhello',
  '~{2}\r\n\0\0',
  '"',
  '{-1}',
  '{9223372036854775808}',
  'NIL',
]
const ITEMS = [
  'UID',
  'FLAGS',
  'BODY[]',
  'BODY.PEEK[HEADER.FIELDS (A B)]<0.5>',
  'BINARY[1.2]',
  'BINARY.SIZE[1]',
  'ENVELOPE',
  'FOO',
  'BODY[1.MIME]',
]
const DATES = ['1-Jan-2024', '"29-Feb-2023"', '99-Foo-1', '1-Jan-99999', '"17-Jul-1996 02:44:25 -0700"']
const LEAVES = ['ALL', 'SEEN', 'NEW', 'UNDRAFT', 'SAVEDATESUPPORTED', '1:*', '$', 'FOO']
const SORT_KEYS = ['ARRIVAL', 'REVERSE DATE', 'SUBJECT', 'DISPLAYFROM', 'FOO']
const TEXT_KEYS = ['FROM', 'SUBJECT', 'BODY', 'TEXT', 'KEYWORD', 'EMAILID', 'BCC', 'HEADER x']

/** Text of one command, with its line end. */
export class CommandMaker {
  readonly #random: Random
  #depth = 0

  constructor(random: Random) {
    this.#random = random
  }

  /** By the grammar, roughly: most are valid. */
  make(): string {
    return `t${this.#random.below(1000)} ${this.#command()}\r\n`
  }

  /** A made command with some bytes changed, dropped, doubled or cut off. */
  damaged(): Buffer {
    let bytes: Buffer = Buffer.from(this.make(), 'latin1')
    for (let i = this.#random.below(4); i >= 0; i--) bytes = this.#damage(bytes)
    return bytes
  }

  #damage(bytes: Buffer): Buffer {
    const at = this.#random.below(bytes.length + 1)
    switch (this.#random.below(5)) {
      case 0:
        return Buffer.concat([bytes.subarray(0, at), Buffer.from([this.#random.below(256)]), bytes.subarray(at)])
      case 1:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)])
      case 2:
        return Buffer.concat([bytes.subarray(0, at), bytes.subarray(at).subarray(0, 20), bytes.subarray(at)])
      case 3:
        return Buffer.concat([bytes.subarray(0, at), Buffer.from('\r\n')])
      default: {
        const changed = Buffer.from(bytes)
        if (at < changed.length) changed[at] = this.#random.below(256)
        return changed
      }
    }
  }

  #command(): string {
    const uid = this.#random.chance(0.3) ? 'UID ' : ''
    const name = () => this.#random.pick(NAMES)
    const makers: (() => string)[] = [
      () => this.#random.pick(['NOOP', 'CAPABILITY', 'CHECK', 'NAMESPACE', 'UNSELECT', 'noop', 'NOOP ', 'FOO', 'IDLE']),
      () =>
        `${this.#random.pick(['SELECT', 'EXAMINE'])} ${name()}${this.#random.pick(['', ' (CONDSTORE)', ' (QRESYNC (1 2 1:3 (1 1)))'])}`,
      () => `${this.#random.pick(['CREATE', 'DELETE', 'SUBSCRIBE', 'UNSUBSCRIBE', 'GETQUOTAROOT'])} ${name()}`,
      () => `RENAME ${name()} ${name()}`,
      () =>
        `LIST ${this.#random.pick(['', '(SUBSCRIBED) ', '(RECURSIVEMATCH) '])}${name()} ${this.#random.pick(['*', '%', '("a%" *)', '{2}\r\n*%'])}${this.#random.pick(['', ' RETURN (CHILDREN STATUS (MESSAGES))'])}`,
      () => `STATUS ${name()} (${this.#random.pick(['MESSAGES', 'UIDNEXT SIZE', 'FOO', ''])})`,
      () => `APPEND ${name()} ${this.#random.pick(['', '(\\Seen) ', '() "17-Jul-1996 02:44:25 -0700" '])}{5+}\r\nhello`,
      () =>
        `${uid}FETCH ${this.#set()} ${this.#list(ITEMS)}${this.#random.pick(['', ' (CHANGEDSINCE 5)', ' (CHANGEDSINCE 5 VANISHED)', ' ()'])}`,
      () =>
        `${uid}STORE ${this.#set()} ${this.#random.pick(['', '(UNCHANGEDSINCE 3) '])}${this.#random.pick(['+', '-', ''])}FLAGS${this.#random.pick(['', '.SILENT'])} ${this.#list(FLAGS)}`,
      () => `${uid}${this.#random.pick(['COPY', 'MOVE'])} ${this.#set()} ${name()}`,
      () => `${uid}EXPUNGE ${this.#random.pick(['', this.#set()])}`.trimEnd(),
      () =>
        `${uid}SEARCH ${this.#random.pick(['', 'RETURN (MIN COUNT) ', 'RETURN (PARTIAL -1:-2 RELEVANCY) FUZZY ', 'RETURN () CHARSET utf-8 '])}${this.#keys()}`,
      () =>
        `GETMETADATA ${this.#random.pick(['', '(DEPTH 1) ', '(MAXSIZE 3 DEPTH infinity) '])}${name()} ${this.#random.pick(['/private/a', '(/private/a /shared/b)', '/shared/x', '/private//a'])}`,
      () => `SETMETADATA ${name()} (/private/a ${this.#random.pick(['"x"', 'NIL', '{2+}\r\nab', '~{1+}\r\n\0', 'x'])})`,
      () => `${uid}SEARCH ${this.#random.pick(['', 'RETURN (MIN COUNT) ', 'RETURN () CHARSET utf-8 '])}${this.#keys()}`,
      () =>
        `${uid}SORT ${this.#random.pick(['', 'RETURN (ALL COUNT) ', 'RETURN (PARTIAL 1:2) '])}${this.#list(SORT_KEYS)} ${this.#random.pick(['UTF-8', 'us-ascii', 'x'])} ${this.#keys()}`,
      () => `${uid}THREAD ${this.#random.pick(['REFERENCES', 'ORDEREDSUBJECT', 'REFS'])} UTF-8 ${this.#keys()}`,
      () => `${uid}REPLACE ${this.#random.pick(NUMBERS)} ${name()} (\\Seen) {5+}\r\nhello`,
      () =>
        `${this.#random.pick(['LSUB', 'LIST'])} "" ${this.#random.pick(['*%*%*%*%*%*%*%*%x', '%/%/%', '"*"', '""'])}`,
      () => (this.#random.chance(0.5) ? this.#notify() : this.#searchOfAll()),
      () => `ID ${this.#random.pick(['NIL', '("name" "x")', '("a" NIL)', '()', '(a b)'])}`,
      () => `ENABLE ${this.#random.pick(['QRESYNC', 'CONDSTORE FOO', 'UTF8=ACCEPT', ''])}`,
      () => `LOGIN ${this.#random.pick(STRINGS)} ${this.#random.pick(STRINGS)}`,
      () => `AUTHENTICATE ${this.#random.pick(['PLAIN', 'PLAIN =', 'PLAIN AGEAYg==', 'FOO x'])}`,
    ]
    return this.#random.pick(makers)()
  }

  #notify(): string {
    const who = this.#random.pick(['selected', 'inboxes', 'personal', 'subtree a'])
    const what = this.#random.pick(['NONE', '(MessageNew (FLAGS) MessageExpunge)', '(FlagChange)', '()'])
    return `NOTIFY ${this.#random.pick(['SET', 'SET STATUS', 'NONE'])} (${who} ${what})`
  }

  #searchOfAll(): string {
    return `ESEARCH IN (${this.#random.pick(['personal', 'mailboxes INBOX', 'subtree a', 'x'])}) ${this.#keys()}`
  }

  #set(): string {
    const range = () =>
      this.#random.chance(0.4)
        ? `${this.#random.pick(NUMBERS)}:${this.#random.pick(NUMBERS)}`
        : this.#random.pick(NUMBERS)
    return this.#random.chance(0.05) ? '$' : Array.from({ length: 1 + this.#random.below(3) }, range).join(',')
  }

  #list(from: readonly string[]): string {
    const some = Array.from({ length: 1 + this.#random.below(3) }, () => this.#random.pick(from))
    return this.#random.chance(0.2) ? some[0]! : `(${some.join(' ')})`
  }

  #keys(): string {
    this.#depth++
    const key = () => {
      const kind = this.#random.below(this.#depth > 12 ? 3 : 6)
      if (kind === 0) return this.#random.pick(LEAVES)
      if (kind === 1) return `${this.#random.pick(TEXT_KEYS)} ${this.#random.pick(STRINGS)}`
      if (kind === 2) return `${this.#random.pick(['BEFORE', 'SENTON', 'SAVEDSINCE'])} ${this.#random.pick(DATES)}`
      if (kind === 3) return `NOT ${this.#keys()}`
      if (kind === 4) return `OR ${this.#keys()} ${this.#keys()}`
      return `(${this.#keys()})`
    }
    const text = Array.from({ length: 1 + this.#random.below(2) }, key).join(' ')
    this.#depth--
    return text
  }
}
