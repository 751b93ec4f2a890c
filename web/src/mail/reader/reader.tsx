// The open conversation: its subject, what is done with it, and its messages.

import { useEffect } from 'preact/hooks'
import type { Message, Thread } from '../../api/types.ts'
import { legible } from '../../base/foreign-text.ts'
import { preferences } from '../../live/preferences.ts'
import { Button } from '../../parts/button.tsx'
import { Empty, ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { common } from '../../words/en/common.ts'
import { mail as words } from '../../words/en/mail.ts'
import { setFlags } from '../commands.ts'
import { Labels } from '../labels.tsx'
import { useMail } from '../mail-context.ts'
import { MessageView } from './message.tsx'
import { ReaderBar } from './reader-bar.tsx'

/** Seconds in view after which a conversation is read, unless the person chose otherwise. */
const READ_AFTER_S = 1

export function Reader() {
  const { place } = useMail()
  if (place.threadId === null)
    return (
      <div class="reader-empty">
        <Empty icon="mail-open" title={words.chooseOne}>
          {words.chooseOneHint}
        </Empty>
      </div>
    )
  return <OpenThread key={place.threadId} threadId={place.threadId} />
}

function OpenThread({ threadId }: { threadId: string }) {
  const mail = useMail()
  const { data, list } = mail
  const conversation = data.conversations.open(threadId)
  const { messages, error, next } = conversation.value
  const thread = data.threads.get(threadId).value
  useReadInView(threadId, messages)
  useEffect(() => fetchNeighbors(mail, threadId), [threadId, list?.version.value])
  const subject = thread?.subject ?? messages?.[0]?.subject ?? ''
  useEffect(() => {
    if (messages !== null) document.title = `${legible(subject || words.noSubject)} · ${common.product}`
  }, [subject, messages === null])
  return (
    <>
      <ReaderBar threadId={threadId} thread={thread} />
      <div class="reader-scroll" tabIndex={-1} id="reader">
        {messages === null && error !== null && (
          <ErrorCard error={error} onRetry={() => data.conversations.refresh([threadId])} />
        )}
        {messages === null && error === null && <Skeleton />}
        {messages !== null && (
          <>
            <div class="reader-title">
              <h2 tabIndex={-1}>
                {subject || words.noSubject} {thread !== undefined && <Labels thread={thread} />}
              </h2>
              {messages.length > 1 && (
                <span class="soft meta">{words.messages(thread?.message_count ?? messages.length)}</span>
              )}
            </div>
            <Messages messages={messages} />
            {next !== null && (
              <Button onPress={() => void data.conversations.readMore(threadId)}>{words.moreMessages}</Button>
            )}
          </>
        )}
      </div>
    </>
  )
}

/** Which messages begin open: those that were not read, and the last one. */
function beginsOpen(message: Message, index: number, messages: readonly Message[]): boolean {
  return index === messages.length - 1 || !message.flags.seen
}

function Messages({ messages }: { messages: readonly Message[] }) {
  return (
    <ol class="messages">
      {messages.map((message, index) => (
        <MessageView key={message.id} message={message} beginsOpen={beginsOpen(message, index, messages)} />
      ))}
    </ol>
  )
}

/** A conversation that stays in view is read. */
function useReadInView(threadId: string, messages: readonly Message[] | null): void {
  const mail = useMail()
  const thread: Thread | undefined = mail.data.threads.get(threadId).value
  const isUnread = (thread?.unread_count ?? 0) > 0
  const chosen = preferences.value?.mark_read_after
  const seconds = chosen === undefined ? READ_AFTER_S : chosen
  useEffect(() => {
    if (messages === null || !isUnread || seconds === null || !mail.data.mayChange) return undefined
    const timer = setTimeout(() => {
      const now = mail.data.threads.get(threadId).peek()
      if (now !== undefined && document.visibilityState === 'visible') setFlags(mail, [now], { seen: true })
    }, seconds * 1000)
    return () => clearTimeout(timer)
    // Once for each conversation that is opened: what a person marks as unread stays so.
  }, [threadId, messages === null])
}

/** The next and the previous conversation are read ahead. */
function fetchNeighbors({ data, list }: ReturnType<typeof useMail>, threadId: string): void {
  const at = list?.indexOf(threadId) ?? -1
  if (list === null || at < 0) return
  for (const index of [at + 1, at - 1]) {
    const id = index < 0 ? undefined : list.idAt(index)
    if (id !== undefined) data.conversations.open(id)
  }
}
