// One conversation in the list.

import type { EmailAddress, Folder, Thread } from '../../api/types.ts'
import { moment } from '../../base/dates.ts'
import { Icon } from '../../parts/icon.tsx'
import { Person, Time } from '../../parts/marks.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { isFlagged } from '../commands.ts'
import { Labels } from '../labels.tsx'
import { cursor, selection, toggleSelected, useMail } from '../mail-context.ts'
import { isSearch } from '../places.ts'
import { selectTo } from '../selection.ts'

/** Names of a row beyond these are counted. */
const MOST_NAMES = 3
const MOST_LABELS = 2

interface ThreadRowProps {
  index: number
  elementId: string
  threadId: string
  isActive: boolean
  isOpen: boolean
  onOpen: (threadId: string) => void
}

/** "Ana", of "Ana Harbour": where several names share a line. */
const shortName = ({ name, email }: EmailAddress) => (name === '' ? email.replace(/@.*$/, '') : name.split(' ')[0]!)

/** Who takes part, the newest writer first; in folders of one's own messages those they are for. */
function namesOf(thread: Thread, own: string, folder: Folder | null): string {
  const last = thread.last_message
  const isOwnFolder = folder?.role === 'sent' || folder?.role === 'drafts'
  // Participants are recipients too: of a single message the writer alone is named.
  const writers = thread.message_count === 1 ? [last.from] : [last.from, ...thread.participants]
  const others = isOwnFolder ? last.to : writers
  const seen = new Set<string>()
  const people = others.filter(({ email }) => !seen.has(email) && seen.add(email))
  const wanted = people.length > 1 ? people.filter(({ email }) => email !== own) : people
  const shown = wanted.slice(0, MOST_NAMES)
  if (shown.length === 1) return shown[0]!.email === own ? words.you : shown[0]!.name || shown[0]!.email
  return shown.map(shortName).join(', ')
}

export function ThreadRow({ index, elementId, threadId, isActive, isOpen, onOpen }: ThreadRowProps) {
  const mail = useMail()
  const { data, list, folder } = mail
  const thread = data.threads.get(threadId).value
  const isSelected = selection.value.has(threadId)
  if (thread === undefined || list === null) return <PendingRow />
  const names = namesOf(thread, data.mailbox.email, folder)
  const states = [thread.unread_count > 0 && 'unread', isActive && 'active', isOpen && 'open']
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: the list around it has the keys
    <div
      id={elementId}
      role="option"
      tabIndex={-1}
      class={['thread-row', ...states].filter(Boolean).join(' ')}
      aria-selected={isSelected}
      aria-setsize={list.total.value ?? -1}
      aria-posinset={index + 1}
      onClick={(event) => {
        const isOnPerson = event.target instanceof Element && event.target.closest('.thread-person') !== null
        const isTicked = isOnPerson || event.ctrlKey || event.metaKey
        if (event.shiftKey) selectTo(mail, threadId)
        else if (isTicked) toggleSelected(threadId)
        else onOpen(threadId)
        if (isTicked) cursor.value = threadId
      }}
    >
      <span class="thread-person" aria-hidden="true">
        {isSelected ? (
          <span class="thread-tick">
            <Icon name="check" />
          </span>
        ) : (
          <Person name={names} />
        )}
      </span>
      <RowText thread={thread} names={names} />
    </div>
  )
}

/** Who, when, about what; with hidden words for what is drawn as a sign. */
function RowText({ thread, names }: { thread: Thread; names: string }) {
  const last = thread.last_message
  return (
    <>
      <span class="thread-top">
        {thread.unread_count > 0 && <span class="hidden-word">{words.rowUnread}</span>}
        <span class="thread-names cut">{names}</span>
        {thread.message_count > 1 && (
          <span class="thread-count" aria-hidden="true">
            {thread.message_count}
          </span>
        )}
        <span class="thread-time end">
          {thread.snoozed_until === null ? (
            <Time at={last.received_at} />
          ) : (
            <span class="snoozed-until">
              <Icon name="clock" size="small" /> {words.snoozedUntil(moment(thread.snoozed_until))}
            </span>
          )}
        </span>
      </span>
      <span class="thread-middle">
        <span class="thread-subject cut">{thread.subject || words.noSubject}</span>
        <Labels thread={thread} most={MOST_LABELS} />
        <span class="thread-signs end">
          {isFlagged(thread) && (
            <span class="flag-set">
              <span class="hidden-word">{words.rowFlagged}</span>
              <Icon name="flag" tone="warn" />
            </span>
          )}
          {thread.is_muted && (
            <span>
              <span class="hidden-word">{words.rowMuted}</span>
              <Icon name="bell-off" tone="soft" />
            </span>
          )}
          {thread.has_attachments && (
            <span>
              <span class="hidden-word">{words.rowFiles}</span>
              <Icon name="paperclip" tone="soft" />
            </span>
          )}
        </span>
      </span>
      <span class="thread-preview cut">
        <Preview messageId={last.id} preview={last.preview} />
      </span>
      {thread.message_count > 1 && <span class="hidden-word">{words.rowMessages(thread.message_count)}</span>}
    </>
  )
}

/** The text around the match of a search; else how the message begins. */
function Preview({ messageId, preview }: { messageId: string; preview: string }) {
  const { data, list, place } = useMail()
  const q = list?.filter.q
  const snippet = q === undefined || !isSearch(place) ? null : data.snippets.of(q, messageId).value
  if (snippet === null) return <>{preview}</>
  return <>{snippet.map(({ text, isMatch }, index) => (isMatch ? <mark key={index}>{text}</mark> : text))}</>
}

/** A place whose conversation is on its way. */
export function PendingRow() {
  return (
    <div class="thread-row pending" aria-hidden="true">
      <span class="thread-bars" />
    </div>
  )
}
