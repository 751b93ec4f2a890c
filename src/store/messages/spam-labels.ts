// What the owner of a mailbox has said of messages: junk or not. Labels are written in the unit of work that moves or marks a message.

import type { Reader, Tx } from '../../db/db.ts'
import { bytes, flag, integer, json, key, type RecordOf, real, table, text, time } from '../../db/table.ts'
import { FEATURE_SET } from '../../spam/features.ts'
import { foldersByMessage } from '../entries/folders-entries.ts'
import { JUNK, NOT_JUNK } from '../entries/keywords.ts'
import { type FolderKey, isListedIn } from '../rows/folders.ts'
import type { MessageAuthentication, MessageSpam } from '../rows/records.ts'

/** How a person has labeled a message. `answer`: by answering it. `kept`: nothing was said, but it was read and kept. */
export type LabelSource = 'mail_program' | 'api' | 'answer' | 'kept'

/** Newest messages among which those that were kept are looked for. */
const LOOKED_AT = 1000

/** Labels of each kind that a mailbox keeps; the oldest make room. */
export const LABELS_MAX = 500

export const SPAM_LABELS = table('spam_labels', {
  n: key(),
  account: integer(),
  content: bytes(),
  is_spam: flag(),
  was_spam: flag(),
  source: text<LabelSource>(),
  sender: text(),
  facts: json<string[]>(),
  labeled_at: time(),
  prior: real().orNull(),
  features: bytes().orNull().hidden(),
  feature_set: integer().or(1),
  taught: flag().orNull(),
})
const WITH_FEATURES = SPAM_LABELS.only('n', 'is_spam', 'prior', 'features')

export type SpamLabel = RecordOf<typeof SPAM_LABELS>

/** What an edit says of a message: junk, not junk, or that nothing more is said. */
export interface Labeling {
  /** Number of the message. */
  message: number
  says: 'spam' | 'ham' | 'nothing'
  /** Only where nothing else was said. */
  isWeak?: boolean
}

/** Keywords and folders of a message. */
interface Filing {
  keywords: readonly string[]
  folders: readonly FolderKey[]
}

/** What the change of a message says of it; null: nothing. A message that leaves Junk for Trash is deleted, which says nothing. */
export function labelingBy(message: number, before: Filing, after: Filing): Labeling | null {
  const has = ({ keywords }: Filing, keyword: string) => keywords.includes(keyword)
  const isNew = (keyword: string) => has(after, keyword) && !has(before, keyword)
  const isGone = (keyword: string) => has(before, keyword) && !has(after, keyword)
  const [wasIn, isIn] = [before, after].map(({ folders }) => folders.some(({ role }) => role === 'junk'))
  if (isNew(JUNK) || (!wasIn && isIn)) return { message, says: 'spam' }
  const leaves = wasIn && !isIn
  if (isNew(NOT_JUNK) || (leaves && after.folders.some(isListedIn))) return { message, says: 'ham' }
  if ((isGone(JUNK) || isGone(NOT_JUNK)) && !isIn && !leaves) return { message, says: 'nothing' }
  if (isNew('$answered') && !isIn) return { message, says: 'ham', isWeak: true }
  return null
}

/** An answered message outside Junk is a good one, unless something else was said of it. @param answer `now` in ms */
export function noteAnswer(tx: Tx, account: number, { message, now }: { message: number; now: number }): void {
  const isInJunk = foldersByMessage(tx, [message])
    .get(message)!
    .some(({ role }) => role === 'junk')
  if (!isInJunk) noteLabels(tx, account, [{ message, says: 'ham', isWeak: true }], { source: 'answer', now })
}

interface MessageRow {
  n: number
  blob: Uint8Array
  from_email: string
  authentication: string
  spam: string
}

/** Writes labels, and has the mailbox learn them. Content that was labeled before gets the new label only. @param now ms */
export function noteLabels(
  tx: Tx,
  account: number,
  labelings: readonly Labeling[],
  { source, now }: { source: LabelSource; now: number },
): void {
  if (labelings.length === 0) return
  const numbers = JSON.stringify(labelings.map(({ message }) => message))
  const rows = tx.all<MessageRow>(
    'SELECT n, blob, from_email, authentication, spam FROM messages WHERE n IN (SELECT value FROM json_each(?))',
    [numbers],
  )
  const byNumber = new Map(rows.map((row) => [row.n, row]))
  for (const { message, says, isWeak = false } of labelings) {
    const row = byNumber.get(message)
    if (row === undefined) continue
    if (says === 'nothing') tx.run('DELETE FROM spam_labels WHERE account = ? AND content = ?', [account, row.blob])
    else put(tx, account, row, { isSpam: says === 'spam', source: isWeak ? 'answer' : source, isWeak, now })
  }
  tx.run('INSERT OR IGNORE INTO spam_due (account) VALUES (?)', [account])
}

function put(
  tx: Tx,
  account: number,
  row: MessageRow,
  { isSpam, source, isWeak, now }: { isSpam: boolean; source: LabelSource; isWeak: boolean; now: number },
): void {
  const { fromAligned } = JSON.parse(row.authentication) as MessageAuthentication
  const { isSpam: wasSpam, reasons } = JSON.parse(row.spam) as MessageSpam
  const label = {
    ...{ account, content: row.blob, isSpam, wasSpam, source, labeledAt: now, facts: reasons },
    sender: fromAligned ? row.from_email.toLowerCase() : '',
  }
  const values = SPAM_LABELS.row(label)
  const names = Object.keys(values)
  const weak = isWeak ? "WHERE spam_labels.source = 'kept'" : ''
  tx.run(
    `INSERT INTO spam_labels (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})
     ON CONFLICT (account, content) DO UPDATE SET is_spam = excluded.is_spam, source = excluded.source,
       labeled_at = excluded.labeled_at ${weak}`,
    Object.values(values),
  )
}

/** Accounts whose labels have changed since they were learned, some at a time. */
export function accountsToLearn(reader: Reader, limit: number): number[] {
  const sql = 'SELECT account FROM spam_due ORDER BY account LIMIT ?'
  return reader.all<{ account: number }>(sql, [limit]).map(({ account }) => account)
}

/** Accounts with features of an earlier version of the program are learned again, from the contents of their labels. */
export function setOutdatedDue(tx: Tx): void {
  tx.run('INSERT OR IGNORE INTO spam_due (account) SELECT DISTINCT account FROM spam_labels WHERE feature_set <> ?', [
    FEATURE_SET,
  ])
}

/** The labels of an account are to be learned again. */
export function setDue(tx: Tx, account: number): void {
  tx.run('INSERT OR IGNORE INTO spam_due (account) VALUES (?)', [account])
}

/** What was labeled before this is learned; a label in between makes the account due again. */
export function clearDue(tx: Tx, account: number): void {
  tx.run('DELETE FROM spam_due WHERE account = ?', [account])
}

/** Labels whose content has not been read by this version of the program, the oldest first. */
export function labelsToRead(reader: Reader, account: number, limit: number): SpamLabel[] {
  const where = 'WHERE account = ? AND (features IS NULL OR feature_set <> ?) ORDER BY n LIMIT ?'
  return SPAM_LABELS.all(reader, where, [account, FEATURE_SET, limit])
}

/** Labels of people that another filter has not learned yet, the oldest first. */
export function labelsToTeach(reader: Reader, limit: number): SpamLabel[] {
  return SPAM_LABELS.all(reader, "WHERE taught IS NOT is_spam AND source <> 'kept' ORDER BY n LIMIT ?", [limit])
}

/** Another filter knows the label; one that was changed in the meantime is due again. */
export function setTaught(tx: Tx, { n, isSpam }: SpamLabel): void {
  SPAM_LABELS.update(tx, { taught: isSpam }, 'WHERE n = ?', [n])
}

/** @param features empty when the content cannot be read */
export function putFeatures(tx: Tx, n: number, features: Uint8Array, prior: number): void {
  SPAM_LABELS.update(tx, { features, prior, featureSet: FEATURE_SET }, 'WHERE n = ?', [n])
}

/** Labels that can be learned, in the order in which they were given. */
export function learnableLabels(reader: Reader, account: number) {
  return WITH_FEATURES.all(reader, 'WHERE account = ? AND length(features) > 0 ORDER BY labeled_at, n', [account])
}

/** Deletes the oldest labels beyond the bound; references before labels of a person. */
export function dropOldLabels(tx: Tx, account: number): void {
  for (const isSpam of [0, 1]) {
    tx.run(
      `DELETE FROM spam_labels WHERE n IN (SELECT n FROM spam_labels WHERE account = ? AND is_spam = ?
         ORDER BY source = 'kept', labeled_at DESC LIMIT -1 OFFSET ?)`,
      [account, isSpam, LABELS_MAX],
    )
  }
}

/** How many labels of each kind accounts have: `corrected` are those that contradict the filter. */
export interface LabelCount {
  source: LabelSource
  isSpam: boolean
  count: number
  corrected: number
}

export function countLabels(reader: Reader, accounts: readonly number[]): LabelCount[] {
  return reader
    .all<{ source: LabelSource; is_spam: number; count: number; corrected: number }>(
      `SELECT source, is_spam, count(*) AS count, sum(is_spam <> was_spam) AS corrected FROM spam_labels
       WHERE account IN (SELECT value FROM json_each(?)) GROUP BY source, is_spam`,
      [JSON.stringify(accounts)],
    )
    .map(({ source, is_spam: isSpam, count, corrected }) => ({ source, isSpam: isSpam === 1, count, corrected }))
}

/**
 * Labels messages by where they are: those in Junk as spam, others that were read and kept as good. What was labeled before stays.
 * @returns how many
 */
export function labelKept(
  tx: Tx,
  account: number,
  { isSpam, now, before, limit }: { isSpam: boolean; now: number; before: number; limit: number },
): number {
  const rows = tx.all<MessageRow>(
    `SELECT n, blob, from_email, authentication, spam FROM messages m
     WHERE account = ? AND listed = ? AND received_at < ? AND seen >= ? AND draft = 0
       AND NOT EXISTS (SELECT 1 FROM spam_labels l WHERE l.account = m.account AND l.content = m.blob)
     ORDER BY received_at DESC, n DESC LIMIT ?`,
    [account, isSpam ? 0 : 1, before, isSpam ? 0 : 1, LOOKED_AT],
  )
  const filed = foldersByMessage(
    tx,
    rows.map(({ n }) => n),
  )
  const isMeant = ({ role }: FolderKey) => (isSpam ? role === 'junk' : role !== 'sent' && role !== 'drafts')
  const chosen = rows.filter(({ n }) => filed.get(n)!.every(isMeant)).slice(0, limit)
  for (const row of chosen) put(tx, account, row, { isSpam, source: 'kept', isWeak: true, now })
  return chosen.length
}

/** @returns how many */
export function removeLabels(tx: Tx, account: number): number {
  tx.run('DELETE FROM spam_due WHERE account = ?', [account])
  return tx.run('DELETE FROM spam_labels WHERE account = ?', [account]).changes
}

/** All labels, the newest first: for an export. */
export function allLabels(reader: Reader, account: number): SpamLabel[] {
  return SPAM_LABELS.all(reader, 'WHERE account = ? ORDER BY labeled_at DESC, n DESC', [account])
}

/** How often an authenticated sender was labeled, by address or by "@domain". */
export function senderLabels(reader: Reader, account: number, sender: string): { spam: number; ham: number } {
  const isDomain = sender.startsWith('@')
  const rows = reader.all<{ is_spam: number; count: number }>(
    `SELECT is_spam, count(*) AS count FROM spam_labels WHERE account = ? AND source <> 'kept'
       AND ${isDomain ? "sender <> '' AND substr(sender, instr(sender, '@')) = ?" : 'sender = ?'} GROUP BY is_spam`,
    [account, sender],
  )
  const countOf = (isSpam: number) => rows.find((row) => row.is_spam === isSpam)?.count ?? 0
  return { spam: countOf(1), ham: countOf(0) }
}

/** What a person said of a content; null: nothing. */
export function labelOf(reader: Reader, account: number, content: Uint8Array): SpamLabel | null {
  const [label] = SPAM_LABELS.all(reader, "WHERE account = ? AND content = ? AND source <> 'kept'", [account, content])
  return label ?? null
}

/** What a person had said of messages, by number. */
export function saidOf(reader: Reader, account: number, messages: readonly number[]): Map<number, Labeling['says']> {
  if (messages.length === 0) return new Map()
  const rows = reader.all<{ n: number; is_spam: number | null }>(
    `SELECT m.n, l.is_spam FROM messages m
     LEFT JOIN spam_labels l ON l.account = ? AND l.content = m.blob AND l.source <> 'kept'
     WHERE m.n IN (SELECT value FROM json_each(?))`,
    [account, JSON.stringify(messages)],
  )
  return new Map(rows.map(({ n, is_spam: isSpam }) => [n, isSpam === null ? 'nothing' : isSpam === 1 ? 'spam' : 'ham']))
}

/** Deletes labels of an account, at most some. See `PurgeStep`. */
export function purgeLabels(tx: Tx, { n }: { n: number }, limit: number): number {
  const { changes } = tx.run(
    'DELETE FROM spam_labels WHERE n IN (SELECT n FROM spam_labels WHERE account = ? LIMIT ?)',
    [n, limit],
  )
  return changes > 0 ? changes : tx.run('DELETE FROM spam_due WHERE account = ?', [n]).changes
}
