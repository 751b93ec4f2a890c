// An account's IMAP server behind AccountServer: signs in, finds out what the server can do, and passes calls on.

import type { Clock } from '../../base/clock.ts'
import { type Quirks, quirksOf } from '../model/quirks.ts'
import type { AccountServer, Idle, LastSelected, RemoteFlagChange, ServerFacts, UidSpan } from '../model/server.ts'
import { type ChannelSettings, enabledIn, ImapChannel } from './imap-channel.ts'
import {
  createFolder,
  deleteFolder,
  isListed,
  listFolders,
  renameFolder,
  selectFolder,
  statusOf,
} from './imap-folders.ts'
import {
  findMessageId,
  readChangedSince,
  readContent,
  readContents,
  readFetchedUids,
  readFlags,
  readHeads,
  readPieces,
  readUids,
} from './imap-reading.ts'
import { RemoteSession } from './imap-session.ts'
import { atom } from './imap-values.ts'
import { waitForChange } from './imap-waiting.ts'
import { appendMessage, copyMessages, expungeMessages, moveMessages, storeFlags, storeLabels } from './imap-writing.ts'
import { BYTES_PER_S, type DayCount, dayLimit, MESSAGES_PER_S, ReadThrottle } from './read-throttle.ts'
import type { ConnectionMemory } from './response-memory.ts'
import { shownText } from './server-errors.ts'

export interface ImapServerDeps {
  clock: Clock
  signal: AbortSignal
  memory: ConnectionMemory
  /** What was read today. */
  day: DayCount
  /** REMOTE_MAIL_PER_DAY. */
  mailPerDay: number
  /** False for servers of the operator. */
  isThrottled: boolean
}

/** @throws ServerError */
export async function openImapServer(settings: ChannelSettings, deps: ImapServerDeps): Promise<AccountServer> {
  const channel = await ImapChannel.open(settings, deps)
  try {
    return await serverOf(channel, deps)
  } catch (error) {
    await channel.close()
    throw error
  }
}

async function serverOf(channel: ImapChannel, deps: ImapServerDeps): Promise<AccountServer> {
  const { client } = channel
  const name = client.serverInfo?.name
  const quirks = quirksOf(channel.capabilities, channel.greeting, typeof name === 'string' ? name : null)
  const facts = await factsOf(channel, quirks, typeof name === 'string' ? name : null)
  const { isThrottled, mailPerDay } = deps
  const limits = {
    messagesPerS: isThrottled ? MESSAGES_PER_S : Number.POSITIVE_INFINITY,
    bytesPerS: isThrottled ? BYTES_PER_S : Number.POSITIVE_INFINITY,
    dayBytes: dayLimit(isThrottled ? quirks.dayBytes : null, mailPerDay),
  }
  const session = new RemoteSession({
    channel,
    facts,
    quirks,
    throttle: new ReadThrottle(deps.clock, limits, deps.day),
  })
  return new ImapServer(session)
}

const NAME_CHARACTERS = 200

async function factsOf(channel: ImapChannel, quirks: Quirks, name: string | null): Promise<ServerFacts> {
  const has = (capability: string) => channel.capabilities.has(capability)
  const enabled = new Set<string>()
  const wanted = ['CONDSTORE', 'QRESYNC'].filter(has)
  if (wanted.length > 0 && has('ENABLE')) {
    const onEnabled = (response: Parameters<typeof enabledIn>[0]) =>
      enabledIn(response).forEach((one) => void enabled.add(one))
    await channel.run('ENABLE', wanted.map(atom), { ENABLED: onEnabled }, { isShort: true })
  }
  const hasQresync = enabled.has('QRESYNC')
  return {
    kind: quirks.kind,
    name: name === null ? null : shownText(name).slice(0, NAME_CHARACTERS),
    capabilities: [...channel.capabilities],
    hasIdle: has('IDLE'),
    hasCondstore: hasQresync || has('CONDSTORE') || has('QRESYNC'),
    hasQresync,
    hasMove: has('MOVE'),
    hasUidPlus: has('UIDPLUS'),
    hasLabels: has('X-GM-EXT-1'),
    hasExactSizes: quirks.hasExactSizes,
  }
}

class ImapServer implements AccountServer {
  readonly facts: ServerFacts
  readonly #session: RemoteSession

  constructor(session: RemoteSession) {
    this.facts = session.facts
    this.#session = session
  }

  folders() {
    return listFolders(this.#session)
  }

  status(path: string) {
    return statusOf(this.#session, path)
  }

  select(path: string, known: LastSelected | null) {
    return selectFolder(this.#session, path, known)
  }

  uids(of?: readonly UidSpan[]) {
    return readUids(this.#session, of)
  }

  fetchedUids() {
    return readFetchedUids(this.#session)
  }

  changedSince(modSeq: number) {
    return readChangedSince(this.#session, modSeq)
  }

  flags(runs: readonly UidSpan[]) {
    return readFlags(this.#session, runs)
  }

  heads(runs: readonly UidSpan[]) {
    return readHeads(this.#session, runs)
  }

  ready(idle: Idle) {
    const { channel, throttle } = this.#session
    channel.endAnswer()
    return throttle.next(channel.signal, idle)
  }

  contents(uids: readonly number[]) {
    return readContents(this.#session, uids)
  }

  pieces(uids: readonly number[]) {
    return readPieces(this.#session, uids)
  }

  content(uid: number) {
    return readContent(this.#session, uid)
  }

  store(runs: readonly UidSpan[], change: RemoteFlagChange, unchangedSince?: number) {
    return storeFlags(this.#session, runs, change, unchangedSince)
  }

  label(runs: readonly UidSpan[], change: RemoteFlagChange) {
    return storeLabels(this.#session, runs, change)
  }

  move(uids: readonly number[], path: string, uidValidity: number | null = null) {
    return moveMessages(this.#session, uids, { path, uidValidity })
  }

  copy(uids: readonly number[], path: string, uidValidity: number | null = null) {
    return copyMessages(this.#session, uids, { path, uidValidity })
  }

  append(path: string, bytes: Uint8Array, flags: readonly string[], receivedAt: number) {
    return appendMessage(this.#session, path, { bytes, flags, receivedAt })
  }

  expunge(uids: readonly number[]) {
    return expungeMessages(this.#session, uids)
  }

  find(messageId: string) {
    return findMessageId(this.#session, messageId)
  }

  isListed(path: string) {
    return isListed(this.#session, path)
  }

  createFolder(path: string) {
    return createFolder(this.#session, path)
  }

  renameFolder(path: string, to: string) {
    return renameFolder(this.#session, path, to)
  }

  deleteFolder(path: string) {
    return deleteFolder(this.#session, path)
  }

  wait(ms: number, signal: AbortSignal) {
    return waitForChange(this.#session, ms, signal)
  }

  close() {
    return this.#session.channel.close()
  }
}
