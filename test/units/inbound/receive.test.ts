// The path of a mail with everything around it made of paper: what is decided when parts fail, wait or are full.

import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { describe, it, test } from 'node:test'
import { openLog } from '../../../src/base/log.ts'
import { LARGE_FROM_BYTES } from '../../../src/base/memory-shares.ts'
import { loadConfig } from '../../../src/config/load.ts'
import type { Directory } from '../../../src/directory/directory.ts'
import { MessageReceiver } from '../../../src/inbound/receive.ts'
import type { LoggedMessage } from '../../../src/inbound/received-message.ts'
import type { AcceptedRecipient, Recipients } from '../../../src/inbound/recipients.ts'
import { refusals, type SmtpRefusal } from '../../../src/inbound/refusals.ts'
import { SourceThrottle } from '../../../src/inbound/source-throttle.ts'
import { SplitRecipients } from '../../../src/inbound/split-recipients.ts'
import type { MailTransaction, Peer } from '../../../src/inbound/transaction.ts'
import type { StoreOutcome } from '../../../src/inbound/writer.ts'
import type { ReceiveWriter } from '../../../src/inbound/writer-calls.ts'
import type { MessageStream } from '../../../src/smtp/command-reader.ts'
import { IN_FLIGHT_BYTES, IN_FLIGHT_MIN_BYTES, MAX_QUEUED } from '../../../src/smtp/limits.ts'
import { line } from '../../../src/smtp/replies.ts'
import type { Spool, SpooledMessage } from '../../../src/smtp/spool.ts'
import type { Store } from '../../../src/store/store.ts'
import type { Inspection } from '../../../src/workers/inspection.ts'
import { ManualClock } from '../../support/clock.ts'

const peer = { address: '192.0.2.1', name: 'unknown', helo: 'mx.out.test', tls: null, protocol: 'ESMTP' } as Peer
const off = { mode: 'off', rules: [] } as const
const recipient = {
  rcptTo: 'ben@in.test',
  mailbox: { id: 'mbx_1', email: 'ben@in.test', quotaBytes: 1, scriptKey: null },
  policy: { mailboxFilter: off, domainFilter: off },
} as unknown as AcceptedRecipient
const inspection = {
  verdict: {
    spf: 'pass',
    dkim: 'pass',
    dmarc: 'pass',
    arc: 'none',
    fromAligned: true,
    signatures: [],
    spfReason: '',
    dmarcReason: '',
  },
  traits: { fromFields: 1, fromAddresses: 1, hasDate: true, hasMessageId: true, repeatedFields: [], suspectLinks: [] },
  message: { parsed: true, from: [{ email: 'ann@out.test', name: '' }] },
  content: null,
  chunks: [],
  scriptOutcomes: [],
  forwardMarks: [],
  linkTokens: [],
} as unknown as Inspection

/** Receives mails, and remembers what was stored, noted and released. */
function open() {
  const seen = { stored: 0, refused: [] as string[], released: 0 }
  const logged: LoggedMessage[] = []
  /** Sources that asked for memory, and how often it was given back. */
  const memory = { asked: [] as string[], released: 0 }
  const seenOwners: string[] = []
  const parts = {
    inspect: async (): Promise<Inspection> => inspection,
    hold: async (stream: AsyncIterable<Buffer>): Promise<SpooledMessage> => {
      for await (const _ of stream);
      return { sizeBytes: 10, source: { bytes: new Uint8Array(10) }, release: parts.release }
    },
    release: async (): Promise<void> => {
      seen.released++
    },
    room: async (): Promise<SmtpRefusal | null> => null,
    store: async (): Promise<StoreOutcome> => {
      seen.stored++
      return 'stored'
    },
    reserve: async (_sizeBytes: number, source: string): Promise<number | null> => {
      memory.asked.push(source)
      return memory.asked.length
    },
  }
  const writer = {
    noteLineError: () => {},
    reserve: (sizeBytes: number, source: string) => parts.reserve(sizeBytes, source),
    release: () => memory.released++,
    noteRefusedMessage: async (message: LoggedMessage, { reply }: SmtpRefusal) => {
      seen.refused.push(line(reply))
      logged.push(message)
    },
    deliver: () => parts.store(),
  } as unknown as ReceiveWriter
  const spool = {
    receive: (stream: MessageStream, owner: string) => {
      seenOwners.push(owner)
      return parts.hold(stream)
    },
  } as unknown as Spool
  const recipients = { checkQuota: () => parts.room() } as unknown as Recipients
  const receiver = new MessageReceiver({
    config: loadConfig({}, 'no-such-file.json'),
    clock: new ManualClock(),
    log: openLog('silent'),
    directory: {} as Directory,
    store: {
      spam: { models: { of: () => [] } },
      accounts: { byMailbox: () => undefined },
    } as unknown as Store,
    blocklists: { ask: async () => [] },
    daemons: { ask: async () => [] },
    inspector: { inspect: () => parts.inspect() },
    writer,
    spamKey: 1,
    share: 1,
    spool,
    recipients,
    splitRecipients: new SplitRecipients(new ManualClock()),
    throttle: new SourceThrottle({ clock: new ManualClock(), log: openLog('silent') }),
  })
  const sendFrom = async (
    source: string,
    given: Partial<MessageStream> = {},
    declaredBytes: number | null = null,
    copies = 1,
  ) => {
    const content = Object.assign(new PassThrough(), { byteLength: 10, sizeExceeded: false, byteError: null, ...given })
    content.end('0123456789')
    const transaction: MailTransaction = {
      queueId: 'q1',
      sender: { address: 'ann@out.test', declaredBytes, utf8: false },
      recipients: Array.from({ length: copies }, () => recipient),
      report: null,
    }
    return line(await receiver.receive(content as unknown as MessageStream, transaction, { ...peer, address: source }))
  }
  const send = (...more: [given?: Partial<MessageStream>, declaredBytes?: number | null, copies?: number]) =>
    sendFrom(peer.address, ...more)
  return { send, sendFrom, seen, seenOwners, parts, memory, logged }
}

test('a mail is stored, and only then answered', async () => {
  const { send, seen } = open()
  assert.equal(await send(), '250 2.0.0 Ok: queued as q1')
  assert.deepEqual(seen, { stored: 1, refused: [], released: 1 })
})

test('a message takes its disk space from the share of its source', async () => {
  const { sendFrom, seenOwners } = open()
  for (const address of ['2001:db8:1:2::1', '2001:db8:1:2::2', '203.0.113.1']) await sendFrom(address)
  assert.deepEqual(seenOwners, ['2001:db8:1:2::/64', '2001:db8:1:2::/64', '203.0.113.1'])
})

test('a spool file that cannot be removed does not unsay a 250', async () => {
  const { send, seen, parts } = open()
  parts.release = async () => {
    throw new Error('read-only file system')
  }
  assert.match(await send(), /^250 /)
  assert.equal(seen.stored, 1)
})

test('what is wrong with the mail is said before what is wrong with us', async () => {
  const { send, parts } = open()
  parts.hold = async (stream) => {
    for await (const _ of stream);
    throw Object.assign(new Error('no space left on device'), { code: 'ENOSPC' })
  }
  assert.match(await send({ byteError: 'bare_lf' }), /^550 5\.6\.11 /)
  assert.match(await send({ sizeExceeded: true }), /^552 5\.3\.4 /)
  assert.match(await send(), /^452 4\.3\.1 /)
})

test('a refusal is logged with all that is known of the message when it is refused', async () => {
  const { send, parts, logged } = open()
  const fail = () => Promise.reject(new Error('broken'))
  const { hold, inspect } = parts
  parts.hold = async (stream) => {
    for await (const _ of stream);
    return fail()
  }
  await send()
  parts.hold = hold
  parts.inspect = fail
  await send()
  parts.inspect = inspect
  parts.store = fail
  await send()
  parts.store = async () => 'full'
  await send()
  const states = logged.map(({ sizeBytes, inspection: content, decision }) => [sizeBytes, content, decision?.junk])
  const decided = [10, inspection, false]
  assert.deepEqual(states, [[undefined, undefined, undefined], [10, undefined, undefined], decided, decided])
})

test('a mailbox that is full is told alone; with others the mail is deferred, or refused when its size was a lie', async () => {
  const { send, seen, parts } = open()
  parts.room = async () => refusals.full
  assert.match(await send(), /^452 4\.2\.2 /)
  assert.match(await send({}, null, 2), /^451 4\.3\.0 /)
  assert.match(await send({}, 10, 2), /^451 4\.3\.0 /)
  assert.match(await send({}, 9, 2), /^552 5\.3\.4 /)
  assert.equal(seen.stored, 0)
  assert.equal(seen.released, 4)
})

test('so many mails are at work, so many wait, and the next one is asked to come again', async () => {
  const { sendFrom, seen, parts } = open()
  const ready = Promise.withResolvers<Inspection>()
  let inspected = 0
  parts.inspect = () => {
    inspected++
    return ready.promise
  }
  const atOnce = IN_FLIGHT_BYTES / IN_FLIGHT_MIN_BYTES
  const sent = Array.from({ length: atOnce + MAX_QUEUED }, (_, n) => sendFrom(`198.51.${n % 100}.1`))
  const [last] = await Promise.all([sendFrom('203.0.113.1')])
  assert.match(last!, /^451 4\.3\.2 /)
  assert.equal(inspected, atOnce)
  ready.resolve(inspection)
  assert.ok((await Promise.all(sent)).every((reply) => reply.startsWith('250 ')))
  assert.deepEqual(seen, { stored: atOnce + MAX_QUEUED, refused: [last], released: atOnce + MAX_QUEUED + 1 })
})

test('messages of one source whose checks take long keep no other source waiting', async () => {
  const { send, sendFrom, parts } = open()
  const ready = Promise.withResolvers<Inspection>()
  parts.inspect = () => ready.promise
  const { hold } = parts
  parts.hold = async (stream) => ({ ...(await hold(stream)), sizeBytes: LARGE_FROM_BYTES - 1 })
  const slow = Array.from({ length: 50 }, () => send())
  await new Promise(setImmediate)
  parts.inspect = async () => inspection
  assert.match(await sendFrom('203.0.113.1'), /^250 /)
  ready.resolve(inspection)
  assert.ok((await Promise.all(slow)).every((reply) => reply.startsWith('250 ')))
})

describe('a large message', () => {
  const openLarge = () => {
    const opened = open()
    const { parts } = opened
    parts.hold = async (stream) => {
      for await (const _ of stream);
      return { sizeBytes: LARGE_FROM_BYTES, source: { file: 'spooled' }, release: parts.release }
    }
    return opened
  }

  it('holds memory of the process for its source until it is stored', async () => {
    const { send, seen, memory } = openLarge()
    assert.match(await send(), /^250 /)
    assert.deepEqual([seen.stored, memory], [1, { asked: [peer.address], released: 1 }])
  })

  it('gives it back when its inspection fails', async () => {
    const { send, seen, parts, memory } = openLarge()
    parts.inspect = () => Promise.reject(new Error('broken'))
    assert.match(await send(), /^451 4\.3\.0/)
    assert.deepEqual([seen.stored, memory.released], [0, 1])
  })

  it('is deferred when no memory becomes free in time, and its file is removed', async () => {
    const { send, seen, parts } = openLarge()
    parts.reserve = async () => null
    assert.match(await send(), /^452 4\.3\.1 /)
    assert.deepEqual([seen.stored, seen.released], [0, 1])
  })

  it('does not keep a small one waiting', async () => {
    const { send, memory } = open()
    assert.match(await send(), /^250 /)
    assert.deepEqual(memory.asked, [])
  })
})
