// The messages that are being written, and the ways to begin one.

import { signal } from '@preact/signals'
import { createDraft, forwardMessage, readDraft, replyTo, type Tagged } from '../../api/drafts.ts'
import { toApiError } from '../../api/errors.ts'
import type { Draft } from '../../api/types.ts'
import { readAddresses } from '../../base/address-list.ts'
import { dayAndTime } from '../../base/dates.ts'
import { preferences } from '../../live/preferences.ts'
import { say } from '../../parts/toast.tsx'
import type { MailboxData } from '../../sync/mailbox.ts'
import { compose as words } from '../../words/en/compose.ts'
import { mail } from '../../words/en/mail.ts'
import { DraftWriter, takeBack } from './draft-writer.ts'

/** Seconds in which a sent message can be taken back, unless the person chose otherwise. */
const UNDO_SECONDS = 10

export interface Writing {
  key: number
  writer: DraftWriter
  /** Whether the recipients have the focus at the beginning; the text has it else. */
  asksForRecipients: boolean
}

export type Start =
  | { kind: 'new'; to?: string }
  | { kind: 'reply' | 'replyAll' | 'forward'; messageId: string }
  /** A message in Drafts. */
  | { kind: 'draft'; messageId: string }

export const writings = signal<readonly Writing[]>([])
let lastKey = 0

const undoSeconds = () => preferences.peek()?.undo_seconds ?? UNDO_SECONDS

function show(writer: DraftWriter, asksForRecipients: boolean): void {
  writings.value = [...writings.peek(), { key: ++lastKey, writer, asksForRecipients }]
}

/** Opens a draft as the server has it. */
export function openSaved(data: MailboxData, draft: Tagged<Draft>): void {
  show(new DraftWriter(data, undoSeconds(), draft), false)
}

export function closeWriting(key: number): void {
  writings.value = writings.peek().filter((writing) => writing.key !== key)
}

/** Begins a message; what the server has to make first is asked of it. */
export async function openComposer(data: MailboxData, start: Start): Promise<void> {
  try {
    const { api } = data
    if (start.kind === 'new') {
      const to = readAddresses(start.to ?? '')
      return show(new DraftWriter(data, undoSeconds(), null, { to }), to.length === 0)
    }
    if (start.kind === 'draft') {
      const { value } = await createDraft(api, { message_id: start.messageId })
      return openSaved(data, await readDraft(api, value.id))
    }
    if (start.kind === 'forward')
      return show(new DraftWriter(data, undoSeconds(), await forwardMessage(api, start.messageId)), true)
    const audience = start.kind === 'reply' ? 'sender' : 'all'
    return show(new DraftWriter(data, undoSeconds(), await replyTo(api, start.messageId, audience)), false)
  } catch (error) {
    say(mail.refused(toApiError(error).message))
  }
}

/** Says that a message was sent, for as long as it can be taken back. @param sendAt when it will be; null: at once */
export function saySent(data: MailboxData, submissionId: string, sendAt: string | null): void {
  const seconds = sendAt === null ? undoSeconds() : UNDO_SECONDS
  if (seconds === 0) {
    say(words.sent)
    return
  }
  const run = () => {
    takeBack(data, submissionId).then(
      (draft) => {
        if (draft !== null) openSaved(data, draft)
        say(words.undone)
      },
      () => say(words.undoLate),
    )
  }
  say(
    sendAt === null ? words.sent : words.later.scheduled(dayAndTime(sendAt)),
    { label: words.undo, run },
    seconds * 1000,
  )
}
