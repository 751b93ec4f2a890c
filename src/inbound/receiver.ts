// Speaks SMTP with the clients of accepted connections and processes their messages: in a receive thread, or in the first thread.

import type { Socket } from 'node:net'
import type { SMTPServer } from 'smtp-server'
import type { Timer } from '../base/clock.ts'
import type { Resolver } from '../base/resolver.ts'
import type { Vault } from '../base/secrets.ts'
import { readSource, refuseConnection } from '../net/connections.ts'
import { OpenSessions } from '../net/open-sessions.ts'
import { findRemoteName } from '../net/reverse-name.ts'
import type { Emails } from '../outbound/log/emails.ts'
import {
  ALL_MEMORY_BYTES,
  ALL_SPOOL_BYTES,
  MAX_MESSAGE_BYTES,
  SPOOL_MEMORY_BYTES,
  SPOOL_SOURCES,
  SWEEP_MS,
} from '../smtp/limits.ts'
import { type CurrentCertificate, openProtocol } from '../smtp/protocol.ts'
import { line, replies } from '../smtp/replies.ts'
import { Spool } from '../smtp/spool.ts'
import { Blocklists } from './blocklists.ts'
import type { AcceptedConnection, ConnectionOwner } from './connections.ts'
import { FilterDaemons } from './filter-daemons.ts'
import { MessageReceiver, type ReceivingDeps } from './receive.ts'
import { isRejected, Recipients } from './recipients.ts'
import { refusals } from './refusals.ts'
import { ReportAddresses } from './report-address.ts'
import { type SessionHandler, SmtpSession } from './session.ts'
import type { SourceThrottle } from './source-throttle.ts'
import type { SplitRecipients } from './split-recipients.ts'

export interface ReceiverDeps extends ReceivingDeps {
  resolver: Resolver
  vault: Vault
  emails: Pick<Emails, 'byN' | 'deliveriesByN'>
  certificate: CurrentCertificate
  /** Folder for long messages, used by no other receiver. */
  spoolFolder: string
  throttle: Pick<SourceThrottle, 'accepted' | 'offended' | 'delay'>
  splitRecipients: Pick<SplitRecipients, 'has' | 'note'>
  connections: ConnectionOwner
  /** The share of the limits on memory and disk that this receiver has, from 0 to 1. */
  share: number
}

export class Receiver {
  readonly #deps: ReceiverDeps
  readonly #spool: Spool
  readonly #protocol: SMTPServer
  readonly #handler: SessionHandler
  /** Sockets without a session: waiting for a PROXY header. */
  readonly #pendingSockets = new Set<Socket>()
  readonly #sessions = new OpenSessions<SmtpSession, () => void>()
  readonly #inFlight = new Set<Promise<unknown>>()
  #sweep: Timer | undefined
  #stopping = false

  constructor(deps: ReceiverDeps) {
    const { config, log, certificate, spoolFolder, share } = deps
    this.#deps = deps
    const disk = ALL_SPOOL_BYTES * share
    // Messages that arrive slowly keep their files for hours: one source must not fill the disk space of all.
    const diskEach = Math.max(disk / SPOOL_SOURCES, MAX_MESSAGE_BYTES)
    const limits = { memoryEach: SPOOL_MEMORY_BYTES, memory: ALL_MEMORY_BYTES * share, disk, diskEach }
    this.#spool = new Spool(spoolFolder, limits)
    this.#protocol = openProtocol({ hostName: config.MAIL_HOSTS[0]!, certificate, log })
    this.#handler = this.#openHandler()
  }

  async start(): Promise<void> {
    await this.#spool.open()
    this.#sweep = this.#deps.clock.every(SWEEP_MS, () => {
      const now = this.#deps.clock.now()
      for (const session of this.#sessions) session.checkDeadline(now)
    })
  }

  /** Serves a connection; it is destroyed when that is not possible. */
  connect(connection: AcceptedConnection): void {
    const { socket } = connection
    // The peer may reset the connection at any time; the session adds its own error listener.
    socket.on('error', () => {})
    this.#open(connection).catch((error: unknown) => {
      this.#deps.log.error({ event: 'smtp.accept_failed', err: error }, 'SMTP connection could not be served')
      socket.destroy()
    })
  }

  /** Ends idle sessions at once and the others after their transaction, at most CLOSING_MS later. */
  async stop(): Promise<void> {
    this.#stopping = true
    for (const socket of this.#pendingSockets) socket.destroy()
    await this.#sessions.end({
      clock: this.#deps.clock,
      retire: (session) => session.retire(),
      cut: (session) => session.cut(),
    })
    await Promise.all(this.#inFlight)
    this.#sweep?.cancel()
  }

  async #open({ id, socket, source: known }: AcceptedConnection): Promise<void> {
    const { connections, config, clock } = this.#deps
    const closed = () => {
      this.#pendingSockets.delete(socket)
      connections.closed(id)
    }
    if (socket.destroyed) return closed()
    this.#pendingSockets.add(socket)
    socket.once('close', closed)
    let source = known
    if (source === null) {
      source = await readSource(socket, { from: config.PROXY_PROTOCOL_FROM, clock })
      if (source === null) return refuseConnection(socket, line(replies.badProxy))
      const refusal = await connections.admit(id, source.address)
      if (refusal !== null) return refuseConnection(socket, line(refusal))
    }
    if (this.#stopping) socket.destroy()
    if (socket.destroyed) return
    // From here on the session reports its end itself: STARTTLS removes every listener from the socket.
    socket.off('close', closed)
    this.#pendingSockets.delete(socket)
    const session = new SmtpSession(this.#protocol, socket, source, this.#handler)
    this.#sessions.add(session, closed)
    session.init()
  }

  #openHandler(): SessionHandler {
    const { config, clock, log, resolver, vault, emails, directory, store, throttle, splitRecipients, writer } =
      this.#deps
    const reports = new ReportAddresses({ config, vault, emails })
    const fullSince = writer.fullSince.bind(writer)
    const admitByPattern = writer.admitByPattern.bind(writer)
    const { accounts } = store
    const recipients = new Recipients({
      ...{ directory, accounts, fullSince, admitByPattern, clock, splitRecipients, reports },
    })
    const blocklists = new Blocklists(this.#deps)
    const daemons = new FilterDaemons(this.#deps)
    const receiver = new MessageReceiver({ ...this.#deps, spool: this.#spool, recipients, blocklists, daemons })
    return {
      clock,
      lookupName: (address) => findRemoteName(address, resolver),
      evaluateRecipient: async (path, { sender, recipients: accepted, report }, peer) => {
        try {
          const verdict = await recipients.evaluate(path, {
            ...{ sender, recipients: accepted, report, source: peer.address },
          })
          if (!isRejected(verdict)) return verdict
          // Address harvesting probes domains as well as local parts.
          if (verdict.refusal === refusals.unknown || verdict.refusal === refusals.foreign)
            throttle.offended(peer.address, 'unknown_recipient')
          // Recipients at domains that are not hosted here have no log.
          if (verdict.teamId !== null) await writer.noteRefusedRecipient(verdict, sender, peer)
          return verdict.refusal.reply
        } catch (error) {
          log.error({ event: 'smtp.recipient_lookup_failed', err: error }, 'Recipient could not be looked up')
          return refusals.failure.reply
        }
      },
      receive: (content, transaction, peer) => this.#track(receiver.receive(content, transaction, peer)),
      delay: (address) => throttle.delay(address),
      noteProtocolError: (address) => throttle.offended(address, 'protocol_error'),
      noteLineError: (error, peer) => writer.noteLineError(error, peer),
      sessionClosed: (session) => this.#removeSession(session),
    }
  }

  #removeSession(session: SmtpSession): void {
    this.#sessions.remove(session)?.()
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const tracked = work.finally(() => this.#inFlight.delete(tracked))
    this.#inFlight.add(tracked)
    return tracked
  }
}
