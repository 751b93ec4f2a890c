// Servers that answer wrongly once the account is signed in: each call ends in a clear error or in correct work, with bounded memory.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { type AccountServer, ServerError } from '../../../src/sync/model/server.ts'
import { ManualClock } from '../../support/clock.ts'
import { FLOODS, runFlood } from '../../support/hostile-floods.ts'
import { type HostileScript, type HostileServer, startHostileImap } from '../../support/hostile-imap.ts'
import { openHostile } from '../../support/hostile-session.ts'

interface Case {
  name: string
  script: HostileScript
  /** After INBOX was selected, unless the call is about folders. */
  call: (account: AccountServer) => Promise<unknown>
  selects?: false
  gives?: unknown
  effect?: ServerError['effect']
  kind?: ServerError['kind']
  reason?: RegExp
  retryAfterMs?: number
  isEnd?: true
  /** Time passes once this command was received. */
  waitsAfter?: string
  /** The connection is still of use. */
  goesOn?: true
}

let server: HostileServer
before(async () => {
  server = await startHostileImap()
})
after(() => server[Symbol.asyncDispose]())

const answer = (command: string, text: string): HostileScript => ({ answers: { [command]: `${text}\r\n$T OK done` } })
const fetch = (...lines: string[]) => answer('UID FETCH', lines.join('\r\n'))
const selected = (...lines: string[]) =>
  answer('SELECT', ['* OK [UIDVALIDITY 7] x', '* OK [UIDNEXT 9] x', ...lines].join('\r\n'))
const body = (uid: number, text: string) => `* ${uid} FETCH (UID ${uid} BODY[] {${text.length}}\r\n${text})`
const HEAD = 'FLAGS (\\Seen) RFC822.SIZE 12 INTERNALDATE "17-Jul-1996 02:44:25 -0700"'
const headOf = async (account: AccountServer) => (await account.heads([[1, 1]]))[0]
const texts = (contents: Map<number, Uint8Array>) =>
  [...contents].map(([uid, bytes]) => [uid, Buffer.from(bytes).toString('latin1')])
const contents = async (account: AccountServer) => texts(await account.contents([1, 2]))
const paths = async (account: AccountServer) => (await account.folders()).map(({ path }) => path)
const isDelay = { effect: 'delay' } as const

const FOLDERS: Case[] = [
  {
    name: 'lists a folder again and again',
    script: answer('LIST', '* LIST () "/" a/a\r\n'.repeat(500).trim()),
    call: paths,
    gives: ['a/a'],
    goesOn: true,
  },
  {
    name: 'lists names that are none',
    script: answer(
      'LIST',
      [
        '* LIST () "/" NIL',
        '* LIST () "/" ""',
        `* LIST () "/" ${'x'.repeat(3000)}`,
        '* LIST',
        '* LIST ()',
        '* LIST () NIL ok',
      ].join('\r\n'),
    ),
    call: paths,
    gives: ['ok'],
    goesOn: true,
  },
  {
    name: 'lists a name that is no modified UTF-7',
    script: answer('LIST', '* LIST () "/" "&&&-"'),
    call: async (account) => (await paths(account)).length,
    gives: 1,
  },
  {
    name: 'lists a name in a literal, with a line break',
    script: answer('LIST', '* LIST () "/" {3}\r\na\nb\r\n* LIST () "/" {3}\r\na b'),
    call: paths,
    gives: ['a b'],
    goesOn: true,
  },
  { name: 'lists __proto__', script: answer('LIST', '* LIST () "/" __proto__'), call: paths, gives: ['__proto__'] },
  {
    name: 'lists views of all messages',
    script: answer(
      'LIST',
      '* LIST (\\All) "/" Everything\r\n* LIST (\\Flagged) "/" Starred\r\n* LIST (\\NonExistent) "/" gone',
    ),
    call: async (account) => (await account.folders()).map(({ canSelect }) => canSelect),
    gives: [false, false, false],
  },
  {
    name: 'refuses LIST',
    script: { answers: { LIST: '$T NO no' } },
    call: paths,
    effect: 'refused',
    reason: /refused a command: “no”$/,
    goesOn: true,
  },
  {
    name: 'gives no numbers in STATUS',
    script: answer('STATUS', '* STATUS INBOX ()'),
    call: (account) => account.status('INBOX'),
    effect: 'refused',
    reason: /no state/,
  },
  {
    name: 'gives numbers in STATUS that are none',
    script: answer('STATUS', '* STATUS INBOX (MESSAGES -1 UIDNEXT 99999999999999999999 UIDVALIDITY 0)'),
    call: (account) => account.status('INBOX'),
    effect: 'refused',
  },
  {
    name: 'selects without UIDVALIDITY',
    script: { answers: { SELECT: '* 3 EXISTS\r\n$T OK done' } },
    call: (account) => account.select('INBOX', null),
    effect: 'refused',
    reason: /no UIDVALIDITY/,
  },
  {
    name: 'says that every message vanished',
    script: selected('* 0 EXISTS', '* OK [HIGHESTMODSEQ 12] x', '* VANISHED (EARLIER) 1:4294967295'),
    call: async (account) => (await account.select('INBOX', { uidValidity: 7, modSeq: 3 })).difference,
    gives: { vanished: [[1, 4_294_967_295]], changed: [] },
    goesOn: true,
  },
  {
    name: 'says what vanished in a form that cannot be read',
    script: selected('* OK [HIGHESTMODSEQ 12] x', '* VANISHED (EARLIER) all'),
    call: (account) => account.select('INBOX', { uidValidity: 7, modSeq: 3 }),
    ...isDelay,
    reason: /VANISHED that cannot be read/,
  },
  {
    name: 'says what vanished of the folder before',
    script: selected('* VANISHED 1:3', '* OK [CLOSED] x', '* OK [HIGHESTMODSEQ 12] x', '* VANISHED (EARLIER) 5'),
    call: async (account) => (await account.select('INBOX', { uidValidity: 7, modSeq: 3 })).difference?.vanished,
    gives: [[5, 5]],
  },
  {
    name: 'has another UIDVALIDITY, and a difference all the same',
    script: selected('* OK [UIDVALIDITY 8] x', '* OK [HIGHESTMODSEQ 12] x', '* VANISHED (EARLIER) 1:3'),
    call: async (account) => (await account.select('INBOX', { uidValidity: 7, modSeq: 3 })).difference,
    gives: null,
  },
  {
    name: 'renames what it refuses to, with a throttle of minutes',
    script: { answers: { RENAME: '$T BAD Request is throttled. Suggested Backoff Time: 92415 milliseconds' } },
    call: (account) => account.renameFolder('a', 'b'),
    ...isDelay,
    retryAfterMs: 92_415,
    goesOn: true,
  },
  {
    name: 'has the folder already',
    script: { answers: { CREATE: '$T NO [ALREADYEXISTS] it is', LIST: '* LIST () "/" a\r\n$T OK' } },
    call: (account) => account.createFolder('a'),
  },
  {
    name: 'does not have the folder any more',
    script: { answers: { DELETE: '$T NO gone', LIST: '$T OK' } },
    call: (account) => account.deleteFolder('a'),
  },
]

const OBJECTS: Case[] = [
  {
    name: 'names folders by bytes of its memory',
    script: {
      capability: 'OBJECTID LIST-EXTENDED LIST-STATUS',
      ...answer(
        'LIST',
        '* LIST () "/" a\r\n* STATUS a (MESSAGES 1 UIDNEXT 2 UIDVALIDITY 3 MAILBOXID (\xb0e\x27\xf0U))',
      ),
    },
    call: async (account) => (await account.folders()).map(({ objectId }) => objectId),
    gives: [null],
  },
]

const READING: Case[] = [
  {
    name: 'names more messages than it has',
    script: answer('UID SEARCH', '* ESEARCH (TAG "x") UID ALL 1:4294967295'),
    call: (account) => account.uids(),
    ...isDelay,
    reason: /more messages than the folder holds/,
  },
  {
    name: 'lies about EXISTS as well',
    script: {
      answers: {
        SELECT: '* 4294967295 EXISTS\r\n* OK [UIDVALIDITY 7] x\r\n* OK [UIDNEXT 9] x\r\n$T OK',
        'UID SEARCH': '* ESEARCH UID ALL 1:4294967295\r\n$T OK',
      },
    },
    call: (account) => account.uids(),
    ...isDelay,
    reason: /more messages than the folder holds/,
  },
  {
    name: 'gives UIDs that go back',
    script: { ...answer('UID SEARCH', '* SEARCH 5 3 3 9 4'), capability: 'UIDPLUS' },
    call: (account) => account.uids(),
    gives: [
      [3, 5],
      [9, 9],
    ],
  },
  {
    name: 'gives the UIDs of all messages by FETCH, in another order',
    script: fetch('* 3 FETCH (UID 9)', '* 1 FETCH (UID 4)', '* 2 FETCH (UID 5)', '* 2 FETCH (UID 5)'),
    call: (account) => account.fetchedUids(),
    gives: [
      [4, 5],
      [9, 9],
    ],
  },
  {
    name: 'gives UIDs that are none',
    script: { ...answer('UID SEARCH', '* SEARCH 0 2 x -3 NIL'), capability: 'UIDPLUS' },
    call: (account) => account.uids(),
    gives: [[2, 2]],
  },
  {
    name: 'gives a set that is none',
    script: answer('UID SEARCH', '* ESEARCH UID ALL 1:*,7'),
    call: (account) => account.uids(),
    ...isDelay,
    reason: /cannot be read/,
  },
  {
    name: 'gives others than were asked for',
    script: fetch(`* 9 FETCH (UID 9 ${HEAD})`, `* 1 FETCH (UID 1 ${HEAD})`),
    call: async (account) => (await account.heads([[1, 2]])).map(({ uid }) => uid),
    gives: [1],
  },
  { name: 'gives no size', script: fetch('* 1 FETCH (UID 1 FLAGS ())'), call: headOf, gives: undefined },
  {
    name: 'gives 10,000 flags, some without end',
    script: fetch(
      `* 1 FETCH (UID 1 RFC822.SIZE 12 FLAGS (${'f'.repeat(500)} ${Array.from({ length: 10_000 }, (_, at) => `k${at}`).join(' ')}))`,
    ),
    call: async (account) => (await headOf(account))?.flags.length,
    gives: 200,
  },
  {
    name: 'gives a date that is none',
    script: fetch('* 1 FETCH (UID 1 FLAGS () RFC822.SIZE 12 INTERNALDATE "32-Foo-2026 99:00:00 +0000")'),
    call: async (account) => (await headOf(account))?.receivedAt,
    gives: Date.UTC(2026, 0, 1),
  },
  {
    name: 'gives a date with a blank',
    script: fetch('* 1 FETCH (UID 1 FLAGS () RFC822.SIZE 12 INTERNALDATE " 7-Jul-1996 02:44:25 -0700")'),
    call: async (account) => (await headOf(account))?.receivedAt,
    gives: Date.UTC(1996, 6, 7, 9, 44, 25),
  },
  {
    name: 'gives a Message-ID of 5,000 characters',
    script: fetch(
      `* 1 FETCH (UID 1 ${HEAD} BODY[HEADER.FIELDS (MESSAGE-ID)] {5015}\r\nMessage-ID: <${'x'.repeat(5000)}>\r\n)`.replace(
        '{5015}',
        '{5016}',
      ),
    ),
    call: async (account) => (await headOf(account))?.messageId,
    gives: null,
  },
  {
    name: 'folds the Message-ID',
    script: fetch(`* 1 FETCH (UID 1 ${HEAD} BODY[HEADER.FIELDS (MESSAGE-ID)] {23}\r\nMessage-ID:\r\n <a@b.c>\r\n)`),
    call: async (account) => (await headOf(account))?.messageId,
    gives: '<a@b.c>',
  },
  {
    name: 'cuts a literal',
    script: {
      answers: {
        'UID FETCH': (connection) => {
          connection.write('* 1 FETCH (UID 1 BODY[] {100}\r\nonly this')
          connection.end()
        },
      },
    },
    call: contents,
    ...isDelay,
    reason: /ended the connection/,
  },
  {
    name: 'announces a literal of 100 GB',
    script: fetch('* 1 FETCH (UID 1 BODY[] {99999999999}\r\n'),
    call: contents,
    ...isDelay,
    reason: /above the limits/,
  },
  {
    name: 'sends a line without end',
    script: { answers: { 'UID FETCH': (connection) => void connection.flood('x'.repeat(1 << 20)) } },
    call: contents,
    ...isDelay,
    reason: /above the limits/,
  },
  {
    name: 'sends a million values',
    script: {
      answers: { 'UID FETCH': (connection) => void connection.flood(`* 1 FETCH (${'a '.repeat(500_000)})\r\n`) },
    },
    call: contents,
    ...isDelay,
    reason: /above the limits/,
  },
  {
    name: 'names another size than the content has',
    script: fetch(`* 1 FETCH (UID 1 RFC822.SIZE 5 BODY[] {10}\r\n0123456789)`),
    call: contents,
    gives: [[1, '0123456789']],
  },
  {
    name: 'has NIL as content',
    script: fetch('* 1 FETCH (UID 1 BODY[] NIL)', body(2, 'two')),
    call: contents,
    gives: [[2, 'two']],
  },
  {
    name: 'has an empty content each time',
    script: fetch('* 1 FETCH (UID 1 BODY[] "")', body(2, 'two')),
    call: contents,
    gives: [[2, 'two']],
  },
  {
    name: 'has an empty content once',
    script: {
      answers: {
        'UID FETCH': (connection, tag, line) =>
          connection.write(
            line.includes(' 1:2 ')
              ? `* 1 FETCH (UID 1 BODY[] "")\r\n${body(2, 'two')}\r\n${tag} OK\r\n`
              : `${body(1, 'one')}\r\n${tag} OK\r\n`,
          ),
      },
    },
    call: contents,
    gives: [
      [1, 'one'],
      [2, 'two'],
    ],
  },
  {
    name: 'has a content of 25 MB instead of a few bytes',
    script: fetch(`* 1 FETCH (UID 1 BODY[] {26214400}\r\n${'x'.repeat(26_214_400)})`),
    call: contents,
    ...isDelay,
    reason: /much more content/,
  },
  { name: 'keeps NUL in a content', script: fetch(body(1, 'a\0b')), call: contents, gives: [[1, 'a\0b']] },
  {
    name: 'nests lists 10,000 deep',
    script: fetch(`* 1 FETCH (UID 1 X ${'('.repeat(10_000)}${')'.repeat(10_000)})`, body(2, 'two')),
    call: contents,
    gives: [[2, 'two']],
  },
  {
    name: 'mixes garbage into a response',
    script: fetch('* garbage ((((', '*', '* 1 FETCH', '* 1 FETCH (UID', body(2, 'two')),
    call: contents,
    gives: [[2, 'two']],
  },
  {
    name: 'sends ALERTs all the time',
    script: fetch('* OK [ALERT] pay now', body(1, 'one'), '* NO [ALERT] or else'),
    call: contents,
    gives: [[1, 'one']],
  },
  {
    name: 'answers tags that were not sent',
    script: { answers: { 'UID FETCH': `ZZZ OK done\r\n${body(1, 'one')}\r\n$T OK` } },
    call: contents,
    gives: [[1, 'one']],
  },
  {
    name: 'says goodbye in the middle',
    script: { answers: { 'UID FETCH': `${body(1, 'one')}\r\n* BYE disk failed\r\n` } },
    call: contents,
    ...isDelay,
    reason: /disk failed/,
    isEnd: true,
  },
  {
    name: 'throttles as Exchange does',
    script: { answers: { 'UID FETCH': '$T BAD Request is throttled. Suggested Backoff Time: 92415 milliseconds' } },
    call: contents,
    ...isDelay,
    retryAfterMs: 92_415,
    goesOn: true,
  },
  {
    name: 'limits the bytes of the day',
    script: { answers: { 'UID FETCH': '$T NO [OVERQUOTA] Account exceeded command or bandwidth limits.' } },
    call: contents,
    ...isDelay,
    reason: /each day/,
    goesOn: true,
  },
  {
    name: 'asks to come back in 5 minutes',
    script: { answers: { 'UID FETCH': '$T NO Server busy, try again in 5 minutes' } },
    call: contents,
    ...isDelay,
    retryAfterMs: 300_000,
  },
  {
    name: 'sends a byte a minute',
    script: { answers: { 'UID FETCH': (connection) => connection.write('* 1 FETCH (UID 1 BODY[] {1000}\r\nx') } },
    call: contents,
    waitsAfter: 'UID FETCH',
    ...isDelay,
    reason: /did not answer within 240/,
  },
  {
    name: 'refuses everything',
    script: { answers: { 'UID FETCH': '$T NO no', 'UID SEARCH': '$T BAD no' } },
    call: (account) => account.uids(),
    effect: 'refused',
    goesOn: true,
  },
  {
    name: 'ignores the range of a part',
    script: fetch(body(1, 'the whole message')),
    call: async (account) => Buffer.concat(await Array.fromAsync((await account.content(1))!)).toString(),
    gives: 'the whole message',
  },
  {
    name: 'sends the first part again and again',
    script: fetch(`* 1 FETCH (UID 1 BODY[]<0> {1048576}\r\n${'x'.repeat(1 << 20)})`),
    call: async (account) => Array.fromAsync((await account.content(1))!),
    ...isDelay,
    reason: /another part/,
  },
  { name: 'does not have the message', script: fetch(), call: (account) => account.content(1), gives: null },
  {
    name: 'speaks as Gmail',
    script: {
      capability: 'X-GM-EXT-1 CONDSTORE ENABLE',
      ...fetch(
        `* 1 FETCH (X-GM-MSGID 1278455344230334865 X-GM-LABELS (\\Inbox "\\\\Sent" "a \\"b\\"" "&AOQ-" {3}\r\nlit) UID 1 ${HEAD})`,
      ),
    },
    call: async (account) => {
      const { objectId, labels } = (await headOf(account))!
      return { objectId, labels }
    },
    gives: { objectId: '1278455344230334865', labels: ['\\Inbox', '\\Sent', 'a "b"', 'ä', 'lit'] },
  },
]

const WRITING: Case[] = [
  {
    name: 'pairs UIDs of different numbers',
    script: { answers: { 'UID MOVE': '* OK [COPYUID 7 1:2 5] x\r\n$T OK' } },
    call: (account) => account.move([1, 2], 'a'),
    gives: null,
  },
  {
    name: 'pairs all UIDs there are',
    script: { answers: { 'UID COPY': '$T OK [COPYUID 7 1:4294967295 1:4294967295] x' } },
    call: (account) => account.copy([1, 2], 'a'),
    gives: null,
  },
  {
    name: 'pairs UIDs that were not asked for',
    script: { answers: { 'UID COPY': '$T OK [COPYUID 7 1,9 5,6] x' } },
    call: (account) => account.copy([1, 2], 'a'),
    gives: new Map([[1, 5]]),
  },
  {
    name: 'is full',
    script: { answers: { APPEND: '$T NO [OVERQUOTA] Mailbox is full' } },
    call: (account) => account.append('a', Buffer.from('x'), [], 0),
    effect: 'refused',
    kind: 'quota',
    goesOn: true,
  },
  {
    name: 'gives no UID of what is appended',
    script: { answers: { APPEND: '$T OK [APPENDUID 7 0] x' } },
    call: (account) => account.append('a', Buffer.from('x'), [], 0),
    gives: null,
  },
  {
    name: 'refuses a literal before it is sent',
    script: { capability: '', answers: { APPEND: '$T NO [TOOBIG] too big' } },
    call: (account) => account.append('a', Buffer.alloc(100_000), [], 0),
    effect: 'refused',
    goesOn: true,
  },
  {
    name: 'says that all messages were modified',
    script: { answers: { 'UID STORE': '$T OK [MODIFIED 1:4294967295] x' } },
    call: (account) => account.store([[1, 2]], { add: ['\\Seen'], remove: [] }, 5),
    gives: [],
  },
  {
    name: 'has messages of others that are marked, without UIDPLUS',
    script: { capability: '', ...answer('UID SEARCH', '* SEARCH 1 2 3') },
    call: (account) => account.expunge([1]),
    gives: [1],
  },
  {
    name: 'refuses IDLE',
    script: { answers: { IDLE: '$T BAD no' } },
    call: (account) => account.wait(1000, AbortSignal.abort()),
    gives: 'unchanged',
  },
  {
    name: 'never goes into IDLE',
    script: { answers: { IDLE: () => {} } },
    call: (account) => account.wait(1000, new AbortController().signal),
    waitsAfter: 'IDLE',
    ...isDelay,
    reason: /did not answer within/,
  },
  {
    name: 'goes away in IDLE',
    script: {
      answers: {
        IDLE: (connection) => {
          connection.write('+ idling\r\n')
          connection.end()
        },
      },
    },
    call: (account) => account.wait(1000, new AbortController().signal),
    ...isDelay,
    reason: /ended the connection/,
  },
]

for (const one of [
  ...[...FOLDERS, ...OBJECTS].map((folder) => ({ ...folder, selects: false as const })),
  ...READING,
  ...WRITING,
]) {
  test(`a server that ${one.name}`, async () => {
    const clock = new ManualClock()
    server.script = { ...one.script, answers: { ...one.script.answers } }
    const account = await openHostile(server, { clock })
    if (one.selects !== false) await account.select('INBOX', null)
    server.commands.length = 0
    const called = one.call(account).then(
      (value) => ({ value, error: null }),
      (error: unknown) => ({ value: null, error }),
    )
    if (one.waitsAfter !== undefined) {
      await server.received(one.waitsAfter)
      clock.advance(300_000)
    }
    const { value, error } = await called
    if (one.effect === undefined) {
      if (error !== null) throw error
      assert.deepEqual(value, one.gives)
    } else {
      assert.ok(error instanceof ServerError, String(error ?? JSON.stringify(value)))
      assert.equal(error.effect, one.effect, error.message)
      assert.equal(error.kind, one.kind ?? null)
      if (one.reason !== undefined) assert.match(error.message, one.reason)
      if (one.isEnd !== undefined) assert.equal(error.isEnd, one.isEnd)
      if (one.retryAfterMs !== undefined) assert.equal(error.retryAfterMs, one.retryAfterMs)
    }
    server.script = {}
    if (one.goesOn === true) assert.equal((await account.status('INBOX')).uidValidity, 7)
    await account.close()
    assert.deepEqual(
      server.commands.filter((command) => command === 'EXPUNGE'),
      [],
    )
  })
}

for (const { name, expects } of FLOODS) {
  test(`a server that ${name}`, async () => {
    const { answer, bytes } = await runFlood(name)
    assert.match(answer, expects)
    assert.ok(bytes < 400 * 1024 * 1024, `${bytes} bytes`)
  })
}

test('a server that announces changes between commands is believed at the next wait', async () => {
  server.script = { answers: { NOOP: '$T OK' } }
  const account = await openHostile(server)
  await account.select('INBOX', null)
  server.script = { answers: { 'UID STORE': '$T OK\r\n* 4 EXISTS' } }
  await account.store([[1, 1]], { add: ['\\Seen'], remove: [] })
  await account.uids()
  assert.equal(await account.wait(1000, new AbortController().signal), 'changed')
  await account.close()
})
