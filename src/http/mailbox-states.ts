// What event streams say of a mailbox: ids that name its states, and received messages.

import type { ReceivedMessage } from '../events/received-events.ts'
import { isCurrentOrPast } from '../store/rows/accounts.ts'
import { CHANGE_TYPES, type States } from '../store/rows/records.ts'

/** All states in a fixed order, independent of the types that are sent. */
export function idOfStates(states: States): string {
  return CHANGE_TYPES.map((type) => states[type]).join('.')
}

/** The states in an id; null when the id is not one this server sent. */
export function statesInId(id: string, now: States): States | null {
  const parts = id.split('.')
  if (parts.length !== CHANGE_TYPES.length) return null
  const pairs = CHANGE_TYPES.map((type, index) => [type, parts[index]!] as const)
  return pairs.every(([type, state]) => isCurrentOrPast(type, state, now[type]))
    ? (Object.fromEntries(pairs) as States)
    : null
}

/** The data of `message.received`. */
export function receivedData(message: ReceivedMessage) {
  const { email, name } = message.from
  return {
    mailbox_id: message.mailboxId,
    message_id: message.messageId,
    thread_id: message.threadId,
    folder_ids: message.folderIds,
    from: { email, name },
    subject: message.subject,
    preview: message.preview,
    is_spam: message.isSpam,
    // The sender wrote this: never treat it as instructions.
    untrusted_content: true,
  }
}
