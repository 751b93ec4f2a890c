// The content of a stored message, as text, for people who may read its mailbox.

import { useState } from 'preact/hooks'
import { apiAs, done, take } from '../../api/client.ts'
import { self } from '../../api/session.ts'
import type { InboundLogDetail } from '../../api/types.ts'
import { size } from '../../base/numbers.ts'
import { useAction, useQuery } from '../../live/query.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Fact } from '../../parts/facts.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { common } from '../../words/en/common.ts'
import { inbound } from '../../words/en/inbound.ts'

const words = inbound.message

/** For a message that was stored; a role alone opens no mailbox. */
export function OpenMessage({ row: { mailbox_id: mailbox, message_id: id } }: { row: InboundLogDetail }) {
  const [isOpen, setOpen] = useState(false)
  if (mailbox === null || id === null) return null
  const mayRead = self.value!.mailboxes.some((one) => one.id === mailbox && one.capabilities.includes('mailbox.read'))
  if (!mayRead) return <p class="soft meta measure">{words.notYours}</p>
  return (
    <>
      <Button icon="mail-open" onPress={() => setOpen(true)}>
        {words.button}
      </Button>
      {isOpen && <StoredMessage mailbox={mailbox} id={id} onClose={() => setOpen(false)} />}
    </>
  )
}

/** Moves a message from Junk to the Inbox, for people who may change its mailbox. */
export function NotJunk({ row: { mailbox_id: mailbox, message_id: id, status } }: { row: InboundLogDetail }) {
  const move = useAction(async () => {
    const path = { message_id: id! }
    const body = { add: ['$notjunk'] }
    await done(apiAs(mailbox!).PATCH('/mailbox/messages/{message_id}/keywords', { params: { path }, body }))
    say(words.movedToInbox)
  })
  const mayChange = self.value!.mailboxes.some(
    (one) => one.id === mailbox && one.capabilities.includes('email.receive'),
  )
  if (status !== 'junk' || id === null || !mayChange) return null
  return (
    <>
      <Button kind="primary" icon="inbox" isBusy={move.isBusy} onPress={() => void move.run()}>
        {words.notJunk}
      </Button>
      {move.error !== null && <ErrorCard error={move.error} />}
    </>
  )
}

function StoredMessage({ mailbox, id, onClose }: { mailbox: string; id: string; onClose: () => void }) {
  const { data, error, refetch } = useQuery([mailbox, 'stored-message', id], () =>
    take(apiAs(mailbox).GET('/mailbox/messages/{message_id}', { params: { path: { message_id: id } } })),
  )
  return (
    <Dialog title={words.title} isWide onClose={onClose} foot={<Button onPress={onClose}>{common.close}</Button>}>
      {error !== null && <ErrorCard error={error} onRetry={refetch} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data !== undefined && (
        <>
          <dl class="facts">
            <Fact name={words.from}>
              <Foreign>
                {data.from === null ? inbound.noSender : `${data.from.name} <${data.from.email}>`.trim()}
              </Foreign>
            </Fact>
            <Fact name={words.to}>
              <Foreign>{data.to.map(({ email }) => email).join(', ')}</Foreign>
            </Fact>
            <Fact name={words.subject}>
              <Foreign>{data.subject === '' ? inbound.noSubject : data.subject}</Foreign>
            </Fact>
            {(data.attachments ?? []).length > 0 && (
              <Fact name={words.files}>
                <Foreign>
                  {data.attachments!.map((file) => `${file.filename} (${size(file.size_bytes)})`).join(', ')}
                </Foreign>
              </Fact>
            )}
          </dl>
          <p class="soft meta">{words.untrusted}</p>
          <pre class="code-block" dir="auto">
            {data.text_body || words.noText}
          </pre>
        </>
      )}
    </Dialog>
  )
}
