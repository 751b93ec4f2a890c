// Entry point of a receive thread: speaks SMTP and inspects and decides on messages, with its own connection for reading; the first thread writes.

import { parentPort, workerData } from 'node:worker_threads'
import { systemClock } from '../base/clock.ts'
import { openLog } from '../base/log.ts'
import { collectUnderPressure } from '../base/memory-pressure.ts'
import { openResolver } from '../base/resolver.ts'
import { Vault } from '../base/secrets.ts'
import { ThreadLink } from '../base/thread-link.ts'
import type { CertificatePair } from '../config/certificate.ts'
import type { Config } from '../config/config.ts'
import { Db } from '../db/db.ts'
import { openDirectory } from '../directory/directory.ts'
import { Emails } from '../outbound/log/emails.ts'
import { Counters } from '../store/log/counters.ts'
import { spamKey } from '../store/mailbox/spam-learning.ts'
import { SpamModels } from '../store/mailbox/spam-models.ts'
import { Acquaintances } from '../store/messages/acquaintance.ts'
import { Accounts } from '../store/rows/accounts.ts'
import { Folders } from '../store/rows/folders.ts'
import { inspect } from '../workers/inspect.ts'
import type { AcceptedConnection } from './connections.ts'
import { Receiver } from './receiver.ts'
import { type SharedChange, type SharedSnapshot, SharedState } from './shared-state.ts'
import { type FirstThreadCalls, remoteWriter } from './writer-calls.ts'

/** What the first thread gives a receive thread. */
export interface ReceiveThreadData {
  config: Config
  /** See `DataFolder.secret`. */
  secret: Uint8Array
  tls: CertificatePair
  /** Path of mail.db. */
  mailFile: string
  /** Folder for long messages, of this thread alone. */
  spoolFolder: string
  /** The share of the limits on memory and disk that this thread has, from 0 to 1. */
  share: number
  shared: SharedSnapshot
}

const { config, secret, tls, mailFile, spoolFolder, share, shared } = workerData as ReceiveThreadData
const clock = systemClock
const log = openLog(config.LOG_LEVEL)
const db = new Db({ file: mailFile, lean: true })
const vault = new Vault(Buffer.from(secret))
const resolver = openResolver({ servers: config.DNS_SERVERS, clock })
const state = new SharedState(clock, null, shared)
const { throttle, splitRecipients } = state
const renewals: ((pair: CertificatePair) => void)[] = []

const calls = {
  connect: async (connection: AcceptedConnection) => {
    await ready
    receiver.connect(connection)
  },
  share: (change: SharedChange) => state.apply(change),
  renewTls: (pair: CertificatePair) => {
    for (const renew of renewals) renew(pair)
  },
  ping: () => {},
  stop: async () => {
    await receiver.stop()
    await resolver.close()
    await db.close()
  },
}
/** What the first thread calls in a receive thread. */
export type ReceiveThreadCalls = typeof calls

const link = new ThreadLink<FirstThreadCalls>(parentPort!, calls, (error) =>
  log.error({ event: 'smtp.thread_call_failed', err: error }, 'Call of the first thread failed'),
)
const writer = remoteWriter(link)
const shareChange = (change: SharedChange) => {
  state.apply(change)
  link.post('share', [change])
}

const receiver: Receiver = new Receiver({
  ...{ config, clock, log, resolver, vault, spoolFolder, share, writer },
  certificate: { pair: tls, onChange: (renew) => renewals.push(renew) },
  directory: openDirectory({ db, clock, vault, resolver, config }),
  store: {
    accounts: new Accounts(db, clock, { notify() {} }),
    read: { folders: new Folders(db, clock) },
    spam: { acquaintances: new Acquaintances(db, clock), models: new SpamModels(db) },
  },
  spamKey: spamKey(vault),
  emails: new Emails({ db, clock, store: { log: { counters: new Counters() } } }),
  inspector: {
    // A message in a file takes long: meanwhile the other sessions of this thread go on.
    inspect: async (source, request) =>
      'file' in source ? writer.inspect(source, request) : inspect(source.bytes, request, resolver),
  },
  throttle: {
    delay: (address) => throttle.delay(address),
    // The first thread counts it with the delivery.
    accepted: (address) => throttle.accepted(address),
    offended: (address, offence) => shareChange({ kind: 'offended', address, offence }),
  },
  splitRecipients: {
    has: (sender) => splitRecipients.has(sender),
    note: (sender) => shareChange({ kind: 'split', sender }),
  },
  connections: {
    admit: (id, address) => link.call('admit', [id, address]),
    closed: (id) => link.post('closed', [id]),
  },
})
const ready = receiver.start()
collectUnderPressure()
await ready
