// Whom a reply goes to, and the subjects of replies and forwards.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Address } from '../../../src/mime/message.ts'
import { forwardSubject, type ReplySource, replyRecipients, replySubject } from '../../../src/mime/reply.ts'
import { Random } from '../../support/random.ts'

const person = (email: string, name = ''): Address => ({ email, name })
const people = (...emails: string[]) => emails.map((email) => person(email))
const isOwn = (email: string) => /^(?:me(?:\+[^@]*)?|sales)@own\.test$/i.test(email)

function source(given: Partial<ReplySource>): ReplySource {
  return { from: person('ann@a.test'), replyTo: [], to: people('me@own.test'), cc: [], listPost: null, ...given }
}

function reply(given: Partial<ReplySource>, audience: 'sender' | 'all' | 'list') {
  const found = replyRecipients(source(given), audience, isOwn)
  return found && [found.to, found.cc].map((list) => list.map(({ email }) => email))
}

const LIST = '<mailto:team@lists.test>'

test('recipients of replies', () => {
  const cases: [Partial<ReplySource>, 'sender' | 'all' | 'list', string[][] | null][] = [
    [{}, 'sender', [['ann@a.test'], []]],
    [{ replyTo: people('help@a.test') }, 'sender', [['help@a.test'], []]],
    [
      { replyTo: people('help@a.test'), to: people('ME@own.test', 'bob@b.test') },
      'all',
      [['help@a.test'], ['bob@b.test']],
    ],
    [
      { to: people('me+shop@own.test', 'bob@b.test'), cc: people('sales@own.test', 'cy@c.test') },
      'all',
      [['ann@a.test'], ['bob@b.test', 'cy@c.test']],
    ],
    // Each address once, whatever its case.
    [
      { to: people('Bob@b.test', 'bob@B.test'), cc: people('ann@A.test', 'bob@b.test') },
      'all',
      [['ann@a.test'], ['Bob@b.test']],
    ],
    // An own message is answered to its recipients.
    [
      { from: person('me@own.test'), to: people('bob@b.test', 'me@own.test'), cc: people('cy@c.test') },
      'sender',
      [['bob@b.test'], []],
    ],
    [
      { from: person('me@own.test'), to: people('bob@b.test'), cc: people('cy@c.test') },
      'all',
      [['bob@b.test'], ['cy@c.test']],
    ],
    // A message to oneself.
    [{ from: person('me@own.test') }, 'all', [['me@own.test'], []]],
    // A list that sets Reply-To to itself.
    [
      { replyTo: people('team@lists.test'), to: people('team@lists.test'), listPost: LIST },
      'sender',
      [['ann@a.test'], []],
    ],
    [
      { replyTo: people('team@lists.test'), to: people('me@own.test'), listPost: LIST },
      'all',
      [['ann@a.test'], ['team@lists.test']],
    ],
    [{ replyTo: people('team@lists.test', 'ann@home.test'), listPost: LIST }, 'sender', [['ann@home.test'], []]],
    [{ listPost: `${LIST} (Postings)` }, 'list', [['team@lists.test'], []]],
    [{ listPost: '<mailto:team%40lists.test?subject=x>' }, 'list', [['team@lists.test'], []]],
    [{ listPost: 'NO' }, 'list', null],
    [{ listPost: '<mailto:a@b.test%0d%0aBcc:z@z.test>' }, 'list', null],
    [{ listPost: '<https://lists.test/post>' }, 'list', null],
    [{}, 'list', null],
    // What cannot be written to is left out.
    [{ from: person('broken'), to: people('bob@b.test', 'x y@z.test', '"a@b"@c.test') }, 'all', [[], ['bob@b.test']]],
  ]
  for (const [given, audience, expected] of cases) {
    assert.deepEqual(reply(given, audience), expected, JSON.stringify([given, audience]))
  }
})

test('no recipient is own, is named twice or breaks a line, for random messages', () => {
  const random = new Random(11)
  const names = ['', 'Bob', 'x\r\nBcc: z@z.test', '\u202eevil', 'a'.repeat(400), '"quoted" \0', 'Ünï']
  const emails = [
    'me@own.test',
    'ME+x@OWN.test',
    'a@a.test',
    'A@A.test',
    'b@b.test',
    'team@lists.test',
    'no address',
    'c@c.test\r\n',
  ]
  const some = () => Array.from({ length: random.below(6) }, () => person(random.pick(emails), random.pick(names)))
  for (let round = 0; round < 500; round++) {
    const given: ReplySource = {
      from: person(random.pick(emails), random.pick(names)),
      ...{ replyTo: some(), to: some(), cc: some() },
      listPost: random.pick([null, LIST, 'NO', '<mailto:>']),
    }
    for (const audience of ['sender', 'all'] as const) {
      const { to, cc } = replyRecipients(given, audience, isOwn)!
      const all = [...to, ...cc]
      const keys = all.map(({ email }) => email.toLowerCase())
      assert.equal(new Set(keys).size, keys.length)
      for (const { email, name } of all) {
        assert.match(email, /^[^\s@]+@[^\s@]+$/)
        assert.ok(!/[\r\n\0]/.test(name) && name.length <= 255)
      }
      assert.ok(cc.every(({ email }) => !isOwn(email)))
      assert.ok(to.every(({ email }) => isOwn(email)) || to.every(({ email }) => !isOwn(email)))
    }
  }
})

test('subjects are marked once', () => {
  const replies: [string, string][] = [
    ['Plan', 'Re: Plan'],
    ['Re: Plan', 'Re: Plan'],
    ['AW: Plan', 'AW: Plan'],
    ['Fwd: Re: Plan', 'Re: Fwd: Re: Plan'],
    ['', 'Re:'],
    ['a\r\nBcc: z@z.test', 'Re: a Bcc: z@z.test'],
  ]
  for (const [given, expected] of replies) assert.equal(replySubject(given), expected)
  assert.equal(forwardSubject('Plan'), 'Fwd: Plan')
  assert.equal(forwardSubject('FW: Plan'), 'FW: Plan')
  assert.equal([...replySubject('\u{1f600}'.repeat(2000))].length, 998)
})
