// Full-text search: no FTS5 syntax can be injected, keys cannot be forged, and addresses match exactly.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, it } from 'node:test'
import { addressKey, domainKey } from '../../../src/store/search/text.ts'
import { attachmentOf, mailOf, openTestStore, person, TestMailbox, type TestStore } from '../../support/mailbox.ts'

let appliance: TestStore
let box: TestMailbox

before(async () => {
  appliance = await openTestStore()
})
beforeEach(async () => {
  box = await TestMailbox.open(appliance)
})
after(() => appliance[Symbol.asyncDispose]())

let count = 0
function put(mail: Parameters<typeof mailOf>[0]): Promise<string> {
  return box.put({
    mail: mailOf(mail),
    receivedAt: appliance.clock.now() + count,
    thread: `t${count++}`,
    folders: ['inbox'],
  })
}

async function find(q: string): Promise<string[]> {
  const cut = { sort: 'received_at', direction: 'asc', limit: 100, after: null, collapseThreads: false } as const
  const page = await appliance.store.read.messages.list(box.account, { q }, cut)
  const threads = await appliance.store.read.threads.list(
    box.account,
    { q },
    { direction: 'asc', limit: 100, after: null },
  )
  const ids = page.items.map(({ id }) => id)
  assert.deepEqual(
    threads.items.map(({ lastMessage }) => lastMessage.id),
    ids,
    `threads of ${q}`,
  )
  return ids
}

describe('FTS5 syntax', () => {
  it('is treated as text or ignored', async () => {
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

  it('has no effect in any random 512 characters', async () => {
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

  it('does not prevent finding text with NUL, lone surrogates and markup', async () => {
    const mail = await put({ subject: 'one\u0000two \ud800three', searchText: 'a' })
    for (const q of ['one', 'two', 'three', '"one two"']) assert.deepEqual(await find(q), [mail], q)
  })
})

describe('words', () => {
  it('match regardless of case and accents, in every part', async () => {
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
    // Bcc recipients are found with the field bcc: only.
    for (const q of ['dee', 'subject:naive', 'from:bob', 'ub', 'ana absent']) assert.deepEqual(await find(q), [], q)
  })

  it('of phrases must be adjacent within one part', async () => {
    const mail = await put({ subject: 'alpha beta', searchText: 'gamma delta alpha' })
    for (const q of ['"alpha beta"', '"gamma delta"', 'alpha.beta']) assert.deepEqual(await find(q), [mail], q)
    for (const q of ['"beta alpha"', '"beta gamma"', 'body:"alpha beta"']) assert.deepEqual(await find(q), [], q)
  })
})

describe('words without spaces', () => {
  it('are found inside longer runs, in every part, and only in their order', async () => {
    const beijing = await put({ subject: '会议通知', searchText: '北京大学的学生明天参加会议，\n请准时。' })
    const tokyo = await put({
      searchText: '会議は東京都庁で行われます。\u{20bb7}野家',
      from: [person('t@shop.example', '山田\u3000太郎')],
    })
    const seoul = await put({
      searchText: '내일 회의에 참석하십시오',
      attachments: [attachmentOf('회의록.pdf'.normalize('NFD'))],
    })
    const bangkok = await put({ searchText: 'พรุ่งนี้มีการประชุมที่กรุงเทพ' })
    const phone = await put({ subject: 'iPhone手机壳 2个', searchText: 'ＡＢＣ ｶﾞｿﾘﾝ ㈱山田' })
    const found: [string, string[]][] = [
      ['大学', [beijing]],
      ['学生', [beijing]],
      ['会议', [beijing]],
      ['会议 -北京', []],
      ['会议请', [beijing]],
      ['subject:会议', [beijing]],
      ['subject:学生', []],
      ['"会议 请准时"', [beijing]],
      ['大北', []],
      ['会議', [tokyo]],
      ['京都', [tokyo]],
      ['-京都 東京', []],
      ['\u{20bb7}野', [tokyo]],
      ['from:山田', [tokyo]],
      ['from:"山田太郎"', [tokyo]],
      ['회의', [seoul]],
      ['내일', [seoul]],
      ['filename:회의록', [seoul]],
      ['ประชุม', [bangkok]],
      ['กรุงเทพ', [bangkok]],
      ['กรงเทพ', []],
      ['手机', [phone]],
      ['手机*', [phone]],
      ['手*', [phone]],
      ['iphone', [phone]],
      ['iPhone手机', [phone]],
      ['"手机壳 2"', [phone]],
      ['iph*', [phone]],
      ['"iphone 手机"', [phone]],
      ['手机 OR 大学', [beijing, phone]],
      ['-(手机 OR 大学 OR 東京)', [seoul, bangkok]],
      ['abc', [phone]],
      ['ａｂｃ', [phone]],
      ['ガソリン', [phone]],
      ['カソリン', []],
      ['株 山田', [phone]],
      ['㈱山田', [phone]],
    ]
    for (const [q, ids] of found) assert.deepEqual(await find(q), ids, q)
  })

  it('of a subject filter are adjacent within a group, and groups can be anywhere', async () => {
    const mail = await put({ subject: '手机壳 red 会议' })
    const cut = { sort: 'received_at', direction: 'asc', limit: 100, after: null, collapseThreads: false } as const
    for (const [subject, ids] of [
      ['会议 手机', [mail]],
      ['机手', []],
      ['RED-会议', [mail]],
    ] as const) {
      const { items } = await appliance.store.read.messages.list(box.account, { subject }, cut)
      assert.deepEqual(
        items.map(({ id }) => id),
        ids,
        subject,
      )
    }
  })

  it('can be searched for in any number', async () => {
    const mail = await put({ searchText: '的'.repeat(2000) })
    assert.deepEqual(await find('的'.repeat(512)), [mail])
    assert.deepEqual(await find('㌖'.repeat(512)), [])
  })
})

describe('addresses', () => {
  it('match as a whole, and domains without their subdomains', async () => {
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

  it('match both forms of a domain (U-labels and A-labels)', async () => {
    const mail = await put({ from: [person('ana@bücher.example')] })
    assert.deepEqual(await find('from:ana@xn--bcher-kva.example'), [mail])
    assert.deepEqual(await find('from:@BÜCHER.example'), [mail])
  })

  it('cannot be forged by writing index keys into a message', async () => {
    const keys = `${addressKey('from', 'boss@corp.example')} ${domainKey('from', 'corp.example')} a${box.account.n} f1`
    await put({ subject: keys, from: [person('evil@bad.example', keys)], searchText: keys })
    assert.deepEqual(await find('from:boss@corp.example'), [])
    assert.deepEqual(await find('from:@corp.example'), [])
  })

  it('in index keys are not found as words', async () => {
    await put({ from: [person('ana@shop.example')], subject: 'hello' })
    for (const q of [`a${box.account.n}`, addressKey('from', 'ana@shop.example'), 'keys:ana', 'f1'])
      assert.deepEqual(await find(q), [], q)
  })
})

it('other accounts are never searched', async () => {
  await put({ subject: 'secret' })
  box = await TestMailbox.open(appliance)
  for (const q of ['secret', '-absent', 'secret OR is:unread', 'in:anywhere', 'sec*', 'NOT (absent OR is:read)'])
    assert.deepEqual(await find(q), [], q)
})
