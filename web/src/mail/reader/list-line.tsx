// The mailing list of a message, and the way out of it.

import { useState } from 'preact/hooks'
import { unsubscribe } from '../../api/mail.ts'
import type { Message, MessageView } from '../../api/types.ts'
import { addressIn } from '../../base/mailto.ts'
import { useAction } from '../../live/action.ts'
import { Button } from '../../parts/button.tsx'
import { Dialog, FormFoot } from '../../parts/dialog.tsx'
import { Foreign } from '../../parts/foreign.tsx'
import { Icon } from '../../parts/icon.tsx'
import { say } from '../../parts/toast.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { openComposer } from '../compose/state.ts'
import { useMail } from '../mail-context.ts'

/** Set by the server when the list has accepted it. */
const LEFT = '$unsubscribed'

export function ListLine({ message, view }: { message: Message; view: MessageView }) {
  const { data } = useMail()
  const [isAsking, setAsking] = useState(false)
  const { list, tone } = view
  if (list === null || tone?.tone === 'bad') return null
  const isLeft = message.keywords.includes(LEFT)
  const way = wayOut(message, view, data.mayChange)
  if (!isLeft && way === null) return null
  return (
    <p class="pictures-line soft meta">
      <Icon name="list" />
      <span>
        {isLeft ? words.mailingList.left : words.mailingList.is} {list.id !== null && <Foreign>{list.id}</Foreign>}
      </span>
      {!isLeft && way === 'click' && (
        <Button kind="link" onPress={() => setAsking(true)}>
          {words.mailingList.leave}
        </Button>
      )}
      {!isLeft && way === 'message' && data.maySend && (
        <Button kind="link" onPress={() => void openComposer(data, { kind: 'new', to: addressIn(list.mailto!) })}>
          {words.mailingList.write}
        </Button>
      )}
      {!isLeft && way === 'page' && (
        <a href={list.https!} target="_blank" rel="noopener noreferrer nofollow">
          {words.mailingList.page}
        </a>
      )}
      {isAsking && <AskLeave message={message} host={new URL(list.https!).hostname} close={() => setAsking(false)} />}
    </p>
  )
}

/** One click where the sender is proven, else a message or a page of theirs. */
function wayOut({ authentication }: Message, { list }: MessageView, mayChange: boolean) {
  if (list!.one_click && list!.https !== null && authentication?.dmarc === 'pass' && mayChange) return 'click'
  if (list!.mailto !== null) return 'message'
  return list!.https === null ? null : 'page'
}

function AskLeave({ message, host, close }: { message: Message; host: string; close: () => void }) {
  const { data } = useMail()
  const leave = useAction(async () => {
    const { accepted, problem } = await unsubscribe(data.api, message.id)
    say(accepted ? words.mailingList.accepted(host) : words.mailingList.refused(host, problem ?? ''))
    close()
    if (accepted) data.conversations.refresh([message.thread_id])
  })
  return (
    <Dialog
      title={words.mailingList.title}
      onClose={close}
      onSubmit={() => void leave.run()}
      error={leave.error}
      foot={<FormFoot verb={words.mailingList.leave} action={leave} onClose={close} />}
    >
      <p>{words.mailingList.question(host)}</p>
    </Dialog>
  )
}
