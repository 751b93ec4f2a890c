// What the replies of a server mean: for each recipient, for the mail, for the account.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Handed, Handover } from '../../../../src/outbound/model/transport.ts'
import { firstVerdict, handover, MAIL, openAccount, shortOutcomes, wordsOf } from '../../../support/carriers.ts'
import { type Answer, type ScriptServer, startMailServer, startScript } from '../../../support/mail-server.ts'

const PLAIN_EHLO = '250-mx.script.test\r\n250 SIZE 1000'
/** Who answers, as every reply names it. */
const SERVER = { host: 'smtp.relay.test', address: '127.0.0.1' }
const TWO = ['bob@out.test', 'eve@out.test']

/** Hands one mail to a server with these answers. */
async function hand(
  answers: Record<string, Answer>,
  given: Partial<Handover> = {},
): Promise<{ handed: Handed; heard: string[] }> {
  await using server = await startScript((peer) => peer.talk(answers))
  const account = openAccount({ smtpPort: server.port })
  const handed = await account.hand(handover(given))
  await account.close()
  return { handed, heard: server.heard }
}

/** The same with a server that takes one command at a time. */
const slowly = (answers: Record<string, Answer>, given?: Partial<Handover>) =>
  hand({ EHLO: PLAIN_EHLO, ...answers }, given)

test('everybody is answered with the words of the server', async () => {
  for (const way of [hand, slowly]) {
    const { handed } = await way({}, { recipients: TWO })
    assert.deepEqual(shortOutcomes(handed), ['sent', 'sent'])
    assert.ok(handed.kind === 'answered')
    assert.equal(handed.confirmation, 'relay')
    assert.equal(handed.peer, 'smtp.relay.test')
    assert.deepEqual(handed.verdicts[0]!.reply, {
      smtpCode: 250,
      enhancedCode: '2.0.0',
      text: '250 2.0.0 Ok: queued as 1',
      server: SERVER,
    })
  }
})

test('the commands go out in one piece where that is offered, one by one where it is not', async () => {
  const order = [
    'EHLO mx.mailstead.test',
    'MAIL FROM:<b+1@bounce.house.test> SIZE=85',
    'RCPT TO:<bob@out.test>',
    'DATA',
  ]
  assert.equal(MAIL.length, 85)
  for (const way of [hand, slowly]) assert.deepEqual((await way({})).heard.slice(0, 4), order)
})

test('recipients are judged one by one', async () => {
  const rcpt: Answer = (line) => {
    if (line.includes('eve@')) return '550-5.1.1 The account does\r\n550 5.1.1 not exist'
    return line.includes('max@') ? '450 4.2.1 Greylisted, please try again' : '250 2.1.5 Ok'
  }
  for (const way of [hand, slowly]) {
    const { handed } = await way({ RCPT: rcpt }, { recipients: [...TWO, 'max@out.test'] })
    assert.deepEqual(shortOutcomes(handed), ['sent', 'never recipient', 'later greylisted'])
    assert.ok(handed.kind === 'answered')
    assert.deepEqual(handed.verdicts[1]!.reply, {
      smtpCode: 550,
      enhancedCode: '5.1.1',
      text: '550 5.1.1 The account does not exist',
      server: SERVER,
    })
  }
})

test('without an accepted recipient no content is sent, and the connection stays usable', async () => {
  for (const EHLO of [PLAIN_EHLO, '250-mx.script.test\r\n250 PIPELINING']) {
    for (const DATA of ['554 5.5.1 No valid recipients', '354 Go on']) {
      const said = ['550 5.1.1 Nobody here', '250 2.1.5 Ok']
      const mails: string[] = []
      await using server = await startScript((peer) =>
        peer.talk({
          EHLO,
          RCPT: () => said.shift()!,
          DATA: () => (said.length === 0 ? '354 Go on' : DATA),
          '.': (mail) => {
            mails.push(mail)
            return '250 2.0.0 Ok'
          },
        }),
      )
      const account = openAccount({ smtpPort: server.port })
      assert.deepEqual(shortOutcomes(await account.hand(handover())), ['never recipient'])
      assert.deepEqual(shortOutcomes(await account.hand(handover())), ['sent'])
      await account.close()
      assert.equal(server.connections, 1)
      assert.equal(mails.filter((mail) => mail.includes('How are you?')).length, 1)
    }
  }
})

test('RSET clears an unfinished transaction before the next one', async () => {
  const said = ['550 5.1.1 Nobody here', '250 2.1.5 Ok']
  await using server = await startScript((peer) => peer.talk({ EHLO: PLAIN_EHLO, RCPT: () => said.shift()! }))
  const account = openAccount({ smtpPort: server.port })
  await account.hand(handover())
  await account.hand(handover())
  await account.close()
  assert.deepEqual(
    server.heard.map((line) => line.split(' ')[0]),
    ['EHLO', 'MAIL', 'RCPT', 'RSET', 'MAIL', 'RCPT', 'DATA', 'QUIT'],
  )
})

test('the content is refused permanently, temporarily, or for one recipient', async () => {
  const cases: [string, string][] = [
    ['554 5.7.1 Spam message rejected', 'never content'],
    ['552 5.3.4 Message too big', 'never content'],
    ['554 5.6.0 Malformed', 'never content'],
    ['550 5.1.1 User unknown', 'never recipient'],
    ['451 4.3.0 Try again', 'later transient'],
    ['452 4.2.2 Mailbox full', 'later mailbox_full'],
  ]
  for (const [reply, verdict] of cases) {
    for (const step of ['.', 'DATA']) {
      const { handed } = await hand({ [step]: reply }, { recipients: TWO })
      assert.deepEqual(shortOutcomes(handed), [verdict, verdict], reply)
      assert.equal(wordsOf(handed), reply)
    }
  }
})

test('a refused sender is a failure of the account', async () => {
  const cases: [string, string][] = [
    ['550 5.7.1 Sender not allowed', 'unavailable sender transient'],
    ['451 4.7.1 Too many messages, slow down', 'unavailable sender throttled'],
    ['530 5.7.0 Authentication required', 'unavailable auth transient'],
    ['552 5.3.4 Message size exceeds limit', 'never content'],
  ]
  for (const [MAIL, verdict] of cases) {
    for (const way of [hand, slowly]) assert.deepEqual(shortOutcomes((await way({ MAIL })).handed), [verdict], MAIL)
  }
  const { handed } = await hand({ RCPT: '530 5.7.0 Sign in first' }, { recipients: TWO })
  assert.deepEqual(shortOutcomes(handed), ['unavailable auth transient'])
})

const NOT_OWNED = '553 5.7.1 <x>: Sender address rejected: not owned by user ann'
/** Takes one sender and refuses all others, where the recipient is named. */
function owned(address: string): Record<string, Answer> {
  let from = ''
  return {
    MAIL: (line) => {
      from = /<(.*)>/.exec(line)![1]!
      return '250 2.1.0 Ok'
    },
    RCPT: () => (from === address ? '250 2.1.5 Ok' : NOT_OWNED),
  }
}

test('a recipient refused because of the sender: the own address is tried, and then it is the account that failed', async () => {
  for (const way of [hand, slowly]) {
    const taken = await way(owned('ann@house.test'), { recipients: TWO })
    assert.deepEqual(shortOutcomes(taken.handed), ['sent', 'sent'])
    const senders = taken.heard.filter((line) => line.startsWith('MAIL'))
    assert.deepEqual(
      senders.map((line) => line.split(' ')[1]),
      ['FROM:<b+1@bounce.house.test>', 'FROM:<ann@house.test>'],
    )
    const { handed } = await way(owned('nobody@else.test'), { recipients: TWO })
    assert.deepEqual(shortOutcomes(handed), ['unavailable sender transient'])
    assert.equal(wordsOf(handed), NOT_OWNED)
  }
})

test('what is said of the sender beside an answer for others is asked again; a group with rules of its own is a recipient', async () => {
  const some: Answer = (line) => (line.includes('eve@') ? '550 5.7.1 Sender not allowed' : '250 2.1.5 Ok')
  assert.deepEqual(shortOutcomes((await hand({ RCPT: some }, { recipients: TWO })).handed), ['sent', 'later transient'])
  const group = '550 5.7.133 Sender not authenticated for group'
  assert.deepEqual(shortOutcomes((await hand({ RCPT: group })).handed), ['never recipient'])
})

test('after DATA the account is blamed for its own address only: another From is the fault of the message', async () => {
  const refusal = '550 5.7.60 Client does not have permissions to send as this sender'
  for (const step of ['DATA', '.']) {
    assert.deepEqual(shortOutcomes((await hand({ [step]: refusal })).handed), ['unavailable sender transient'])
    const other = await hand({ [step]: refusal }, { from: 'sales@house.test' })
    assert.deepEqual(shortOutcomes(other.handed), ['never content'])
  }
})

test('too many recipients is retried, a full mailbox is not', async () => {
  let asked = 0
  const { handed } = await hand(
    { RCPT: () => (++asked < 2 ? '250 Ok' : '552 Too many recipients') },
    { recipients: TWO },
  )
  assert.deepEqual(shortOutcomes(handed), ['sent', 'later throttled'])
  asked = 0
  const full = await hand({ RCPT: () => (++asked < 2 ? '250 Ok' : '552 5.2.2 Mailbox full') }, { recipients: TWO })
  assert.deepEqual(shortOutcomes(full.handed), ['sent', 'never recipient'])
})

test('a server that closes in the middle is a failed account, until a recipient was refused', async () => {
  const closing = '421 4.3.2 Service shutting down'
  for (const step of ['MAIL', 'RCPT', 'DATA']) {
    const { handed } = await hand({ [step]: closing }, { recipients: TWO })
    assert.equal(handed.kind, 'unavailable')
    assert.equal(wordsOf(handed), closing)
  }
  let asked = 0
  const { handed } = await hand({ RCPT: () => (asked++ === 0 ? '550 5.1.1 Nobody' : closing) }, { recipients: TWO })
  assert.deepEqual(shortOutcomes(handed), ['never recipient', 'later transient'])
})

test('a lost connection: before the end of data another account may be used, after it the outcome is unknown', async () => {
  const drop: Answer = (_line, peer) => {
    peer.drop()
    return null
  }
  for (const verb of ['EHLO', 'MAIL', 'RCPT', 'DATA']) {
    const { handed } = await hand({ [verb]: drop })
    assert.equal(handed.kind, 'unavailable', verb)
  }
  const { handed } = await hand({ '.': drop }, { recipients: TWO })
  assert.deepEqual(shortOutcomes(handed), ['later network', 'later network'])
  assert.equal(
    wordsOf(handed),
    'smtp.relay.test ended the connection before it replied to the message. It had received the whole message and may have accepted it.',
  )
})

test('a refusal during DATA is read, and the connection is not used any more', async () => {
  const bytes = Buffer.concat([MAIL, Buffer.alloc(8_000_000, `${'x'.repeat(70)}\r\n`)])
  await using server = await startScript(async (peer) => {
    await peer.talk({
      EHLO: '250-mx.script.test\r\n250 PIPELINING',
      DATA: async () => {
        peer.say('354 Go on')
        await peer.hearBytes(1000)
        peer.say('552 5.3.4 That is too much')
        await peer.closed()
        return null
      },
    })
  })
  const account = openAccount({ smtpPort: server.port })
  assert.deepEqual(shortOutcomes(await account.hand(handover({ bytes }))), ['never content'])
  await account.close()
  assert.equal(server.connections, 1)
})

test('what a server cannot take is not offered to it', async () => {
  const large = await slowly({}, { bytes: Buffer.concat([MAIL, Buffer.alloc(1000, 'x')]) })
  assert.deepEqual(shortOutcomes(large.handed), ['never content'])
  assert.equal(firstVerdict(large.handed).reply.enhancedCode, '5.3.4')
  assert.equal(wordsOf(large.handed), 'smtp.relay.test accepts messages of up to 1000 bytes; this one has 1085.')
  const eight = await slowly({}, { bytes: Buffer.from('Subject: x\r\n\r\nÄ\r\n') })
  assert.equal(firstVerdict(eight.handed).reply.enhancedCode, '5.6.3')
  const header = await slowly({}, { bytes: Buffer.from('Subject: Ä\r\n\r\nx\r\n') })
  assert.equal(firstVerdict(header.handed).reply.enhancedCode, '5.6.7')
  for (const { heard } of [large, eight, header]) assert.ok(!heard.some((line) => line.startsWith('MAIL')))
  const utf8 = await slowly({}, { recipients: ['jörg@out.test', 'bob@out.test'] })
  assert.deepEqual(shortOutcomes(utf8.handed), ['never recipient', 'sent'], 'only whose address it is')
  assert.equal(firstVerdict(utf8.handed).reply.enhancedCode, '5.6.7')
})

test('SMTPUTF8 and 8BITMIME are asked for where they are needed', async () => {
  const mailLine = ({ heard }: { heard: string[] }) => heard.find((line) => line.startsWith('MAIL'))
  assert.equal(mailLine(await hand({})), 'MAIL FROM:<b+1@bounce.house.test> SIZE=85')
  assert.match(mailLine(await hand({}, { recipients: ['jörg@out.test'] }))!, / SMTPUTF8$/)
  const bytes = Buffer.from('Subject: x\r\n\r\nÄ\r\n')
  assert.match(mailLine(await hand({}, { bytes }))!, / BODY=8BITMIME$/)
  assert.match(mailLine(await hand({}, { bytes: Buffer.from('Subject: Ä\r\n\r\n\r\n') }))!, / BODY=8BITMIME SMTPUTF8$/)
  assert.match(mailLine(await hand({}, { mailFrom: '' }))!, /^MAIL FROM:<> /)
})

test('nothing breaks out of its place', async () => {
  for (const given of [
    { recipients: ['b@b.test>\r\nRCPT TO:<z@z.test'] },
    { mailFrom: 'a@a.test>\nRSET' },
    { bytes: Buffer.from('Subject: x\r\n\r\nx\n.\r\nMAIL FROM:<a@a.test>\r\n') },
    { bytes: Buffer.from('Subject: x\r\n\r\nx\r.\r\n') },
    { bytes: Buffer.from('Subject: x\r\r\n\r\nx\r\n') },
  ]) {
    const { handed, heard } = await hand({}, given)
    assert.deepEqual(shortOutcomes(handed), ['never content'])
    assert.deepEqual(heard, [])
  }
})

test('the bytes that arrive are those that were handed over', async () => {
  await using server = await startMailServer()
  const account = openAccount({ smtpPort: server.port })
  const cases = [
    '.\r\n',
    '..\r\n.x\r\n\r\n.\r\n',
    `Subject: x\r\n\r\n${'.\r\n'.repeat(100_000)}`,
    '\r\n',
    'x\r\n'.repeat(400_000),
  ]
  for (const text of cases) {
    assert.deepEqual(shortOutcomes(await account.hand(handover({ bytes: Buffer.from(text) }))), ['sent'])
    assert.equal(server.messages.at(-1)!.bytes.equals(Buffer.from(text)), true)
  }
  // Without a line break at its end a mail gets one (RFC 5321 4.1.1.4).
  await account.hand(handover({ bytes: Buffer.from('Subject: x\r\n\r\nno end') }))
  assert.equal(server.messages.at(-1)!.bytes.toString(), 'Subject: x\r\n\r\nno end\r\n')
  await account.close()
})

test('a server without EHLO is greeted as of old', async () => {
  const { handed, heard } = await hand({ EHLO: '502 5.5.1 What?' })
  assert.deepEqual(shortOutcomes(handed), ['sent'])
  assert.deepEqual(heard.slice(0, 3), [
    'EHLO mx.mailstead.test',
    'HELO mx.mailstead.test',
    'MAIL FROM:<b+1@bounce.house.test>',
  ])
})

test('a server that does not want us says so in its greeting', async () => {
  for (const [greeting, cause] of [
    ['554 5.7.1 You are on a list', 'transient'],
    ['421 4.7.0 Too many connections from you', 'throttled'],
  ]) {
    await using server: ScriptServer = await startScript((peer) => peer.talk({}, greeting))
    const account = openAccount({ smtpPort: server.port })
    const handed = await account.hand(handover())
    assert.deepEqual(shortOutcomes(handed), [`unavailable greeting ${cause}`])
    assert.equal(wordsOf(handed), greeting)
    await account.close()
  }
})
