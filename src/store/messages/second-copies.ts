// Second messages over the content of messages that a folder has already, or that are in as many folders as a message may be.

import { newId } from '../../base/ids.ts'
import type { Reader, Tx } from '../../db/db.ts'
import type { MessageReading } from '../../workers/inspection.ts'
import type { BlobNamer } from '../content/blob-names.ts'
import type { Blobs } from '../content/blobs.ts'
import { readFully } from '../content/pack-content.ts'
import type { FolderEntry } from '../entries/folders-views.ts'
import { applySetChange, flagsOf, isTooMany, keywordsOf, type SetChange } from '../entries/keywords.ts'
import type { FolderKey } from '../rows/folders.ts'
import type { Account, MessageAuthentication } from '../rows/records.ts'
import { type FilingDeps, type MessageFiling, storeMessages } from './file-message.ts'
import type { StoredAddresses } from './rows.ts'

/** Reads messages that are stored. */
export interface MessageReader {
  read(sizeBytes: number, load: () => Promise<Uint8Array>): Promise<ParsedContent>
  readAll(messages: readonly Uint8Array[]): Promise<ParsedContent[]>
}

type ParsedContent = Pick<MessageReading, 'message'>

/** What is copied of a message beside its content. */
interface SourceRow {
  n: number
  thread: number
  blob: Uint8Array
  size_bytes: number
  seen: number
  flagged: number
  draft: number
  answered: number
  keywords: string
  addresses: string
  envelope: string
  authentication: string
  spam: string
}

/** A message whose content has been read, to be stored a second time. */
export interface ReadSource {
  uid: number
  /** Number of the message. */
  message: number
  receivedAt: number
  blob: Uint8Array
  /** The search index stores no texts, so that a copy is read as a new message is. */
  reading: ParsedContent
}

/** The copies do not fit the quota of the mailbox. */
export class MailboxFull extends Error {}

/** Larger messages are read one after another, as far as the reader has memory for them. */
const TOGETHER_BYTES = 64 * 1024

function sourceRows(reader: Reader, account: Account, numbers: readonly number[]): Map<number, SourceRow> {
  const rows = reader.all<SourceRow>(
    `SELECT n, thread, blob, size_bytes, seen, flagged, draft, answered, keywords, addresses, envelope, authentication, spam
     FROM messages WHERE +account = ? AND n IN (SELECT value FROM json_each(?))`,
    [account.n, JSON.stringify(numbers)],
  )
  return new Map(rows.map((row) => [row.n, row]))
}

/** Reads the content of messages; those that are gone are left out. @throws ProductError service_unavailable when it cannot be read */
export async function readSources(
  { read, blobs, reader }: { read: Reader; blobs: Blobs; reader: MessageReader },
  account: Account,
  entries: readonly FolderEntry[],
): Promise<ReadSource[]> {
  const rows = sourceRows(read, account, numbersOf(entries))
  const sources = entries.flatMap(({ uid, message, receivedAt }) => {
    const row = rows.get(message)
    return row === undefined ? [] : [{ uid, message, receivedAt, blob: row.blob, sizeBytes: row.size_bytes }]
  })
  const small = sources.filter(({ sizeBytes }) => sizeBytes <= TOGETHER_BYTES)
  const contents =
    small.length === 0 ? [] : blobs.small(small.map(({ blob: hash, sizeBytes }) => ({ hash, sizeBytes })))
  const together = small.filter((_, index) => contents[index] !== undefined)
  const readings = await reader.readAll(contents.filter((bytes) => bytes !== undefined))
  const known = new Map(together.map(({ uid }, index) => [uid, readings[index]!]))
  const all: ReadSource[] = []
  for (const { sizeBytes, ...source } of sources) {
    const load = () => readFully(blobs.read(source.blob, 0, sizeBytes), sizeBytes)
    all.push({ ...source, reading: known.get(source.uid) ?? (await reader.read(sizeBytes, load)) })
  }
  return all
}

interface SecondCopyOptions {
  account: Account
  target: FolderKey
  marks: SetChange | undefined
  quotaBytes: number
  nameOf: BlobNamer
}

/**
 * Stores second messages: with the flags and keywords the messages have now, and in their threads. Messages that are gone are left out.
 * @returns the UIDs of both
 * @throws MailboxFull
 */
export function storeSecondCopies(
  tx: Tx,
  deps: FilingDeps,
  sources: readonly ReadSource[],
  { account, target, marks, quotaBytes, nameOf }: SecondCopyOptions,
): { uid: number; newUid: number }[] {
  const rows = sourceRows(
    tx,
    account,
    sources.map(({ message }) => message),
  )
  // Content that no row refers to may be deleted at any time.
  const present = sources.filter(({ message, blob }) => Buffer.compare(rows.get(message)?.blob ?? NO_BLOB, blob) === 0)
  const bytes = present.reduce((sum, { message }) => sum + rows.get(message)!.size_bytes, 0)
  const used = deps.accounts.byMailbox(account.mailboxId, tx)?.usedBytes ?? 0
  if (used + bytes > quotaBytes) throw new MailboxFull()
  const createdAt = deps.clock.now()
  const filings = present.map((source) =>
    filingOf(source, rows.get(source.message)!, { account: account.n, target, marks, nameOf, createdAt }),
  )
  return storeMessages(tx, deps, filings).map(({ uids }, index) => ({ uid: present[index]!.uid, newUid: uids[0]! }))
}

const NO_BLOB = new Uint8Array(0)

function filingOf(
  { reading, receivedAt }: ReadSource,
  row: SourceRow,
  options: { account: number; target: FolderKey; marks: SetChange | undefined; nameOf: BlobNamer; createdAt: number },
): MessageFiling {
  const { account, target, marks, nameOf, createdAt } = options
  const keywords = markedKeywords(row, marks)
  // Bcc recipients of a sent message are only in its row.
  const { bcc } = JSON.parse(row.addresses) as StoredAddresses
  return {
    id: newId('message'),
    ...{ account, nameOf, createdAt, receivedAt, keywords, blob: row.blob, sizeBytes: row.size_bytes },
    parsed: { ...reading.message, bcc },
    flags: flagsOf(keywords),
    folders: [target],
    ownAddresses: [],
    knownThread: row.thread,
    envelope: JSON.parse(row.envelope) as MessageFiling['envelope'],
    authentication: JSON.parse(row.authentication) as MessageAuthentication,
    spam: JSON.parse(row.spam) as MessageFiling['spam'],
  }
}

/** A message with the maximum of keywords goes without a mark. */
function markedKeywords(row: SourceRow, marks: SetChange | undefined): string[] {
  const flags = {
    seen: row.seen === 1,
    flagged: row.flagged === 1,
    draft: row.draft === 1,
    answered: row.answered === 1,
  }
  const before = keywordsOf(flags, JSON.parse(row.keywords) as string[])
  const after = applySetChange(before, marks)
  return isTooMany(before, after) ? before : after
}

function numbersOf(entries: readonly FolderEntry[]): number[] {
  return entries.map(({ message }) => message)
}
