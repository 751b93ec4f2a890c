// The content of a message: its text as the app draws it, or its document in a frame, below what is proven of its sender.

import { useEffect, useState } from 'preact/hooks'
import { type ApiError, toApiError } from '../../api/errors.ts'
import type { Message, MessageView } from '../../api/types.ts'
import { documentOf } from '../../api/views.ts'
import { look } from '../../base/look.ts'
import { addressIn } from '../../base/mailto.ts'
import { preferences } from '../../live/preferences.ts'
import { Button } from '../../parts/button.tsx'
import { MessageFrame } from '../../parts/message-frame.tsx'
import { MessageText } from '../../parts/message-text.tsx'
import { ErrorCard, Skeleton } from '../../parts/quiet.tsx'
import { mail as words } from '../../words/en/mail.ts'
import { openComposer } from '../compose/state.ts'
import { useMail } from '../mail-context.ts'
import { useIsDark } from '../widths.ts'
import { LinkQuestion } from './link-question.tsx'
import { ListLine } from './list-line.tsx'
import { PicturesLine } from './pictures-line.tsx'
import { SenderLines } from './sender-lines.tsx'

/** A draft is drawn by its text: each save replaces the message, and the document of the earlier one is gone. */
export function MessageBody({ message }: { message: Message }) {
  return message.flags.draft ? <TextBody message={message} /> : <ReceivedBody message={message} />
}

function ReceivedBody({ message }: { message: Message }) {
  const { data } = useMail()
  const [view, setView] = useState<MessageView | null>(null)
  const [error, setError] = useState<ApiError | null>(null)
  const read = () => {
    setError(null)
    data.views.read(message.id).then(setView, (thrown: unknown) => setError(toApiError(thrown)))
  }
  useEffect(read, [message.id])
  if (error !== null) return <ErrorCard error={error} onRetry={read} />
  if (view === null) return <Skeleton rows={3} />
  return (
    <>
      <SenderLines message={message} view={view} />
      <ListLine message={message} view={view} />
      {view.kind === 'html' ? <HtmlBody message={message} view={view} /> : <TextBody message={message} />}
    </>
  )
}

function TextBody({ message }: { message: Message }) {
  const text = message.text_body ?? ''
  return (
    <>
      {text.trim() === '' ? <p class="soft">{words.noText}</p> : <MessageText text={text} />}
      {message.body_truncated?.text === true && <p class="soft meta">{words.cutText}</p>}
    </>
  )
}

/** Whether remote pictures are shown without being asked for. */
function showsPictures({ images }: MessageView): boolean {
  const chosen = preferences.value?.remote_images ?? 'known'
  if (chosen === 'always') return images.reason !== 'junk' && images.reason !== 'off'
  return chosen === 'known' && images.mode === 'proxied'
}

function HtmlBody({ message, view }: { message: Message; view: MessageView }) {
  const { data } = useMail()
  const [withPictures, setWithPictures] = useState(() => showsPictures(view))
  const [isWhole, setWhole] = useState(false)
  const [asked, setAsked] = useState<MessageView['links'][number] | null>(null)
  const isDark = useIsDark(look.value.theme)
  const src = documentOf(data.mailbox.id, message.id, { withPictures, isDark, isWhole })
  const follow = (n: number): boolean => {
    const link = view.links.find((one) => one.n === n)
    if (link?.href.startsWith('mailto:') === true && data.maySend) {
      void openComposer(data, { kind: 'new', to: addressIn(link.href) })
      return false
    }
    const isDoubtful = link !== undefined && (link.warning !== null || view.tone?.tone === 'bad')
    if (isDoubtful) setAsked(link)
    return !isDoubtful
  }
  return (
    <>
      <PicturesLine view={view} areShown={withPictures} show={() => setWithPictures(true)} />
      <MessageFrame
        src={src}
        title={words.frame(message.from.name || message.from.email)}
        isPlain={view.theme === 'plain'}
        onLink={follow}
      />
      {view.clipped && !isWhole && (
        <p class="soft meta">
          {words.clipped}{' '}
          <Button kind="link" onPress={() => setWhole(true)}>
            {words.showWhole}
          </Button>
        </p>
      )}
      {asked !== null && <LinkQuestion link={asked} onClose={() => setAsked(null)} />}
    </>
  )
}
