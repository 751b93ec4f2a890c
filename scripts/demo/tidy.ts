// What Ana of the demo did with her messages: read, flagged, labeled, set aside.

import type { Call } from './api.ts'
import { LETTERS, type Letter } from './letters.ts'

const HOUR_MS = 3_600_000
/** Conversations of her Inbox that are still unread, of the newest. */
const UNREAD = 9
const PAGE = 100

interface Listed {
  id: string
  subject: string
}

const change = (mailbox: Call, ids: readonly string[], what: object) =>
  ids.length === 0 ? Promise.resolve() : mailbox('POST', '/mailbox/threads/batch-update', { ids, ...what })

/** @param mailbox calls as her mailbox @param now ms */
export async function tidyMailbox(mailbox: Call, now: number): Promise<void> {
  const threads: Listed[] = []
  for (let page: Listed[] | null = null; page === null || page.length === PAGE; threads.push(...page))
    page = await mailbox<Listed[]>('GET', `/mailbox/threads?limit=${PAGE}&position=${threads.length}`)
  const read = threads.slice(UNREAD).map(({ id }) => id)
  for (let at = 0; at < read.length; at += PAGE)
    await change(mailbox, read.slice(at, at + PAGE), { flags: { seen: true } })
  const of = (matches: (letter: Letter) => boolean) => {
    const subjects = LETTERS.filter(matches).map(({ subject }) => subject)
    return threads.filter(({ subject }) => subjects.includes(subject)).map(({ id }) => id)
  }
  await change(
    mailbox,
    of(({ isRead }) => isRead === true),
    { flags: { seen: true } },
  )
  await change(
    mailbox,
    of(({ isFlagged }) => isFlagged === true),
    { flags: { flagged: true } },
  )
  for (const label of new Set(LETTERS.flatMap(({ label: one }) => one ?? [])))
    await change(
      mailbox,
      of((letter) => letter.label === label),
      { add_keywords: [label] },
    )
  for (const { subject, returnsIn } of LETTERS) {
    if (returnsIn === undefined) continue
    const until = new Date(now + returnsIn * HOUR_MS).toISOString()
    for (const id of of((letter) => letter.subject === subject))
      await mailbox('PUT', `/mailbox/threads/${id}/snooze`, { until })
  }
}
