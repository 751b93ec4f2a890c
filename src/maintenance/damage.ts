// Damaged contents by the names of what they belong to, for the operator: of the doctor, of backups and of restores.

import type { Log } from '../base/log.ts'
import type { Reader } from '../db/sql.ts'
import { mailboxAddress } from '../directory/mailboxes/mailboxes-reads.ts'
import { emailsWithContent } from '../outbound/log/named-contents.ts'
import type { DamagedContent } from '../store/content/damaged-content.ts'
import { messagesWithContent } from '../store/messages/recount.ts'
import { mailboxIdOf } from '../store/rows/accounts-numbers.ts'

/** Contents that are named one by one. */
const NAMED_MAX = 100
/** Messages with the same content that are named. */
const HOLDERS_MAX = 5

export interface DamagedName {
  /** SHA-256 of the content, in hexadecimal. */
  content: string
  /** Such as `message msg_… of ben@example.com`; empty where it is an upload, a draft, kept for resending or removed. */
  holders: string[]
}

export interface Damage {
  /** How many contents are damaged or missing. */
  contents: number
  /** The first ones. */
  names: DamagedName[]
}

export const NO_DAMAGE: Damage = { contents: 0, names: [] }

/** @param mail of mail.db */
export function damageOf(mail: Reader, hashes: readonly Uint8Array[]): Damage {
  const names = hashes.slice(0, NAMED_MAX).map((hash) => ({
    content: Buffer.from(hash).toString('hex'),
    holders: holdersOf(mail, hash),
  }))
  return { contents: hashes.length, names }
}

function holdersOf(mail: Reader, hash: Uint8Array): string[] {
  const messages = messagesWithContent(mail, hash, HOLDERS_MAX).map(({ id, account }) => {
    const mailboxId = mailboxIdOf(mail, account) ?? ''
    return `message ${id} of ${mailboxAddress(mail, mailboxId) ?? mailboxId}`
  })
  const emails = emailsWithContent(mail, hash, HOLDERS_MAX).map((id) => `sent message ${id}`)
  return [...messages, ...emails]
}

/** How many contents are damaged, in words. */
export function damageCount({ contents }: Pick<Damage, 'contents'>): string {
  return contents === 1 ? '1 content is damaged or missing' : `${contents} contents are damaged or missing`
}

/** One line for each content that is named. */
export function damageLines({ contents, names }: Damage): string[] {
  const lines = names.map(({ content, holders }) => {
    return `${content}: ${holders.length === 0 ? 'an upload, a draft, or content kept for resending or restoring' : holders.join(', ')}`
  })
  return contents > names.length ? [...lines, `and ${contents - names.length} more`] : lines
}

/** In sentences; null without damage. */
export function damageText(damage: Damage): string | null {
  return damage.contents === 0 ? null : `${damageCount(damage)}: ${damageLines(damage).join('; ')}.`
}

/** Logs content that was found damaged when it was read, by the names of its messages. @param mail of mail.db */
export function logDamage(log: Log, mail: Reader, { hash, problem }: DamagedContent): void {
  const { content, holders } = damageOf(mail, [hash]).names[0]!
  log.error({ event: 'content.damaged', content, holders, problem }, 'Stored content is damaged')
}
