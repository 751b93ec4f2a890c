// What gets into the full-text index and out of it: no syntax of it leaks, keys cannot be forged, addresses match exactly.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { addressKey, domainKey } from '../../../src/store/search/text.ts'
import { mailOf, openTestStore, person, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let house: TestStore
let box: TestMailbox

before(async () => {
  house = await openTestStore()
})
beforeEach(async () => {
  box = await TestMailbox.open(house)
})
after(() => house[Symbol.asyncDispose]())

let count = 0
function put(mail: Parameters<typeof mailOf>[0]): Promise<string> {
  return box.put({
    mail: mailOf(mail),
    receivedAt: house.clock.now() + count,
    thread: `t${count++}`,
    folders: ['inbox'],
  })
}

async function find(q: string): Promise<string[]> {
  const cut = { sort: 'received_at', direction: 'asc', limit: 100, after: null, collapseThreads: false } as const
  const page = await house.store.messages.list(box.account, { q }, cut)
  const threads = await house.store.threads.list(box.account, { q }, { direction: 'asc', limit: 100, after: null })
  const ids = page.items.map(({ id }) => id)
  assert.deepEqual(
    threads.items.map(({ lastMessage }) => lastMessage.id),
    ids,
    `threads of ${q}`,
  )
  return ids
}

describe('syntax of the index', () => {
  it('does not leak: it is text or nothing', async () => {
    const mail = await put({ subject: 'near col keys subject a b and or not', searchText: 'alpha beta' })
    const other = await put({ subject: 'gamma', searchText: 'delta' })
    for (const q of [
      '"',
      '""',
      '*',
      '"*"',
      '^',
      '+',
      '{',
      '}',
      ':',
      '\\',
      '%',
      '_',
      "'",
      "''",
      ';--',
      '\u0000',
      '\ud800',
    ])
      assert.deepEqual(await find(q), [mail, other], JSON.stringify(q))
    for (const q of [
      'NEAR(alpha beta)',
      'NEAR("alpha beta")',
      'subject:near',
      'alpha AND beta',
      'AND alpha',
      'alpha" or "gamma',
      '{subject} : near',
      '^near',
      'alpha + beta',
      'alp*',
      '\u0000alpha',
      '\ud800alpha\udc00',
      'alpha\u0000',
      "alpha'",
      'alpha"',
    ]) {
      assert.deepEqual(await find(q), q.includes('gamma') ? [] : [mail], JSON.stringify(q))
    }
    for (const q of ['col:alpha', 'gamma AND NEAR(alpha', 'alpha gamma', 'a\u0000b gamma', 'alpha" gamma'])
      assert.deepEqual(await find(q), [], JSON.stringify(q))
  })

  it('does not leak from 512 characters of anything', async () => {
    const mail = await put({ subject: 'alpha' })
    for (const piece of [
      '"',
      '*',
      '(',
      ')',
      ':',
      '^',
      '{',
      '}',
      '+',
      '-',
      '\u0000',
      '\ud800',
      '\\',
      "'",
      '?',
      ';',
      '$',
    ]) {
      const q = piece === '(' ? piece.repeat(5) : piece.repeat(512)
      assert.deepEqual(await find(q), [mail], JSON.stringify(piece))
    }
    assert.deepEqual(await find('x'.repeat(512)), [])
  })

  it('leaves text with NUL, lone surrogates and markup findable', async () => {
    const mail = await put({ subject: 'one\u0000two \ud800three', searchText: 'a' })
    for (const q of ['one', 'two', 'three', '"one two"']) assert.deepEqual(await find(q), [mail], q)
  })
})

describe('words', () => {
  it('match whatever their case and accents, in every part', async () => {
    const mail = await put({
      subject: 'Übergrößen',
      from: [person('ana@shop.example', 'Ána')],
      to: [person('bob@shop.example', 'Bob')],
      cc: [person('cy@shop.example', 'Çy')],
      bcc: [person('dee@shop.example', 'Dee')],
      searchText: 'naïve ΣΟΦΙΑ',
    })
    for (const q of ['ubergroßen', 'ana', 'BOB', 'cy', 'naive', 'σοφια', 'über*', 'bcc:dee', 'ana bob naive'])
      assert.deepEqual(await find(q), [mail], q)
    // Who got a blind copy is asked for by name only.
    for (const q of ['dee', 'subject:naive', 'from:bob', 'ub', 'ana absent']) assert.deepEqual(await find(q), [], q)
  })

  it('of phrases stand next to each other inside one part', async () => {
    const mail = await put({ subject: 'alpha beta', searchText: 'gamma delta alpha' })
    for (const q of ['"alpha beta"', '"gamma delta"', 'alpha.beta']) assert.deepEqual(await find(q), [mail], q)
    for (const q of ['"beta alpha"', '"beta gamma"', 'body:"alpha beta"']) assert.deepEqual(await find(q), [], q)
  })
})

describe('addresses', () => {
  it('match whole, and domains without what lies below them', async () => {
    const ana = await put({ from: [person('Ana@Shop.example')] })
    const diana = await put({ from: [person('diana@shop.example')] })
    const below = await put({ from: [person('ana@mail.shop.example')] })
    const longer = await put({ from: [person('ana@shop.example.org')] })
    assert.deepEqual(await find('from:ana@shop.example'), [ana])
    assert.deepEqual(await find('from:ANA@SHOP.EXAMPLE'), [ana])
    assert.deepEqual(await find('from:@shop.example'), [ana, diana])
    assert.deepEqual(await find('from:shop.example'), [ana, diana, below, longer])
    assert.deepEqual(await find('-from:@shop.example'), [below, longer])
    assert.deepEqual(await find('to:ana@shop.example'), [])
  })

  it('match in both spellings of a domain', async () => {
    const mail = await put({ from: [person('ana@bücher.example')] })
    assert.deepEqual(await find('from:ana@xn--bcher-kva.example'), [mail])
    assert.deepEqual(await find('from:@BÜCHER.example'), [mail])
  })

  it('cannot be forged by writing the keys of the index into a mail', async () => {
    const keys = `${addressKey('from', 'boss@corp.example')} ${domainKey('from', 'corp.example')} a${box.account.n} f1`
    await put({ subject: keys, from: [person('evil@bad.example', keys)], searchText: keys })
    assert.deepEqual(await find('from:boss@corp.example'), [])
    assert.deepEqual(await find('from:@corp.example'), [])
  })

  it('in the keys of the index are not found as words', async () => {
    await put({ from: [person('ana@shop.example')], subject: 'hello' })
    for (const q of [`a${box.account.n}`, addressKey('from', 'ana@shop.example'), 'keys:ana', 'f1'])
      assert.deepEqual(await find(q), [], q)
  })
})

it('another account is never searched', async () => {
  await put({ subject: 'secret' })
  box = await TestMailbox.open(house)
  for (const q of ['secret', '-absent', 'secret OR is:unread', 'in:anywhere', 'sec*', 'NOT (absent OR is:read)'])
    assert.deepEqual(await find(q), [], q)
})
