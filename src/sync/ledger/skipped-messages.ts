// Messages of outside accounts that are at the server and not here: how many, why, and when they are asked for again.

import type { Reader } from '../../db/db.ts'
import type { SkippedMessages, SkipReason } from '../model/records.ts'
import { CONTENT } from './content-state.ts'
import { SKIPPED_RETRY_AT } from './remote-messages.ts'

export interface SkippedOfFolder extends SkippedMessages {
  /** Number of the remote folder. */
  folder: number
}

/** The skipped messages of the folders of an account that have some. */
export function skippedByFolder(reader: Reader, remote: number): SkippedOfFolder[] {
  const rows = reader.all<{ folder: number; why: SkipReason; messages: number; at: number }>(
    `SELECT m.remote_folder AS folder, coalesce(m.skip_reason, 'absent') AS why, count(*) AS messages,
       min(${SKIPPED_RETRY_AT}) AS at
     FROM remote_folders f CROSS JOIN remote_messages m
     WHERE f.remote = ? AND m.remote_folder = f.n AND m.state <> 0 AND m.uid > 0
       AND m.state IN (${CONTENT.missing}, ${CONTENT.unreadable}, ${CONTENT.headless})
     GROUP BY m.remote_folder, why`,
    [remote],
  )
  const byFolder = Map.groupBy(rows, ({ folder }) => folder)
  return [...byFolder].map(([folder, reasons]) => ({
    folder,
    ...sumOf(reasons.map(({ why, messages, at }) => skippedFor(why, messages, at))),
  }))
}

/** All skipped messages of an account. */
export function skippedOf(reader: Reader, remote: number): SkippedMessages {
  return sumOf(skippedByFolder(reader, remote))
}

/** What is skipped, in a sentence for people; null: nothing is. */
export function skippedSentence({ messages, tooLarge }: SkippedMessages): string | null {
  const others = messages - tooLarge
  const parts: string[] = []
  if (others > 0) parts.push(`${counted(others)} not given by the server: asked for again later.`)
  if (tooLarge > 0) parts.push(`${counted(tooLarge)} too large, and stay at the server: read them there.`)
  return parts.length === 0 ? null : parts.join(' ')
}

function counted(messages: number): string {
  return messages === 1 ? '1 message is' : `${messages} messages are`
}

/** Messages that are too large are not asked for again. @param at ms */
function skippedFor(reason: SkipReason, messages: number, at: number): SkippedMessages {
  const isLarge = reason === 'large'
  return { messages, tooLarge: isLarge ? messages : 0, nextTryAt: isLarge ? null : at }
}

function sumOf(all: readonly SkippedMessages[]): SkippedMessages {
  const times = all.flatMap(({ nextTryAt }) => nextTryAt ?? [])
  return {
    messages: all.reduce((sum, { messages }) => sum + messages, 0),
    tooLarge: all.reduce((sum, { tooLarge }) => sum + tooLarge, 0),
    nextTryAt: times.length === 0 ? null : Math.min(...times),
  }
}
