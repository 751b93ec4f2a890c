// One message of a conversation: who wrote, to whom, its text and its files; or one line while it is closed.

import { useState } from 'preact/hooks'
import type { EmailAddress, Message } from '../../api/types.ts'
import { dayAndTime, exact, relative } from '../../base/dates.ts'
import { size } from '../../base/numbers.ts'
import { Button } from '../../parts/button.tsx'
import { Icon } from '../../parts/icon.tsx'
import { Badge, Person, Time } from '../../parts/marks.tsx'
import { Menu, type MenuItem } from '../../parts/menu.tsx'
import { compose } from '../../words/en/compose.ts'
import { mail as words } from '../../words/en/mail.ts'
import { openComposer } from '../compose/state.ts'
import { useMail } from '../mail-context.ts'
import { Attachments } from './attachments.tsx'
import { Deliveries } from './deliveries.tsx'
import { MessageBody } from './message-body.tsx'
import { SourceDialog } from './source-dialog.tsx'

/** Names in the line below the writer; the rest is counted. */
const MOST_NAMES = 4

interface MessageViewProps {
  message: Message
  beginsOpen: boolean
}

/** A sent message of which something is to be known before it is opened. */
const isTroubled = ({ delivery }: Message) => delivery !== null && delivery.status !== 'sent'

export function MessageView({ message, beginsOpen }: MessageViewProps) {
  const [isOpen, setOpen] = useState(beginsOpen)
  const { data } = useMail()
  const { from } = message
  const isOwn = from.email === data.mailbox.email
  const name = isOwn ? words.you : from.name || from.email
  return (
    <li class={`message ${isOpen ? '' : 'closed'}`}>
      <div class="message-head">
        <Person name={from.name || from.email} />
        <button
          type="button"
          class="message-toggle"
          aria-expanded={isOpen}
          aria-label={isOpen ? words.closeMessage(name) : words.openMessage(name)}
          onClick={() => setOpen(!isOpen)}
        />
        <div class="message-who">
          <p class="cut">
            <span class="strong">{name}</span>{' '}
            {isOpen && !isOwn && from.name !== '' && <span class="soft">{from.email}</span>}
          </p>
          {isOpen ? <Recipients message={message} /> : <p class="soft cut">{message.preview}</p>}
        </div>
        {message.flags.draft && <Badge>{words.draftMark}</Badge>}
        <span class="message-time soft meta">
          {isOpen ? (
            <time dateTime={message.received_at} title={exact(message.received_at)}>
              {dayAndTime(message.received_at)}
              <span class="message-ago">, {relative(message.received_at)}</span>
            </time>
          ) : (
            <Time at={message.received_at} />
          )}
        </span>
        {isOpen && <MessageMenu message={message} />}
      </div>
      {(isOpen || isTroubled(message)) && message.delivery !== null && <Deliveries message={message} />}
      {isOpen && <Content message={message} />}
    </li>
  )
}

function Content({ message }: { message: Message }) {
  return (
    <div class="message-content">
      <MessageBody message={message} />
      <Attachments files={message.attachments ?? []} />
      <Answers message={message} />
    </div>
  )
}

/** What follows a message: an answer, or more of the draft. */
function Answers({ message }: { message: Message }) {
  const { data } = useMail()
  if (!data.maySend) return null
  const { id: messageId, flags, to, cc } = message
  if (flags.draft)
    return (
      <div class="message-answers">
        <Button icon="pencil" onPress={() => void openComposer(data, { kind: 'draft', messageId })}>
          {compose.editDraft}
        </Button>
      </div>
    )
  const start = (kind: 'reply' | 'replyAll' | 'forward') => () => void openComposer(data, { kind, messageId })
  return (
    <div class="message-answers">
      <Button icon="reply" onPress={start('reply')}>
        {compose.reply}
      </Button>
      {to.length + cc.length > 1 && (
        <Button icon="reply-all" onPress={start('replyAll')}>
          {compose.replyAll}
        </Button>
      )}
      <Button icon="forward" onPress={start('forward')}>
        {compose.forward}
      </Button>
    </div>
  )
}

const nameOf = ({ name, email }: EmailAddress, own: string) => (email === own ? words.toYou : name || email)

/** "to you, Ben", with all fields behind it. */
function Recipients({ message }: { message: Message }) {
  const { data } = useMail()
  const own = data.mailbox.email
  const people = [...message.to, ...message.cc, ...message.bcc]
  const names = people.slice(0, MOST_NAMES).map((person) => nameOf(person, own))
  const more = people.length - names.length
  const { fields } = words
  const rows: [string, string][] = [
    [fields.from, addresses([message.from])],
    [fields.to, addresses(message.to)],
    [fields.cc, addresses(message.cc)],
    [fields.bcc, addresses(message.bcc)],
    [fields.replyTo, addresses(message.reply_to)],
    [fields.received, exact(message.received_at)],
    [fields.size, size(message.size_bytes)],
  ]
  return (
    <details class="message-fields">
      <summary class="soft meta">
        {words.to} {names.length === 0 ? words.toNone : names.join(', ')} {more > 0 && words.others(more)}
      </summary>
      <dl>
        {rows
          .filter(([, value]) => value !== '')
          .map(([label, value]) => (
            <div key={label}>
              <dt class="soft">{label}</dt>
              <dd>{value}</dd>
            </div>
          ))}
      </dl>
    </details>
  )
}

const addresses = (people: readonly EmailAddress[]) =>
  people.map(({ name, email }) => (name === '' ? email : `${name} <${email}>`)).join(', ')

function MessageMenu({ message }: { message: Message }) {
  const { data } = useMail()
  const [isSourceShown, setSourceShown] = useState(false)
  const items: MenuItem[] = [
    { label: words.showSource, icon: 'braces', onPress: () => setSourceShown(true) },
    {
      label: words.original,
      icon: 'download',
      href: `/as/${data.mailbox.id}/api/v1/mailbox/messages/${message.id}/raw`,
    },
  ]
  return (
    <>
      <Menu class="icon-button" label={words.messageMenu} items={items}>
        <Icon name="ellipsis" />
      </Menu>
      {isSourceShown && <SourceDialog messageId={message.id} close={() => setSourceShown(false)} />}
    </>
  )
}
