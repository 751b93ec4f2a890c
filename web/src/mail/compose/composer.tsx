// A message that is being written, in a window at the edge of the page; on a phone it is the page.

import type { TargetedKeyboardEvent } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { toApiError } from '../../api/errors.ts'
import { isAddress } from '../../base/address-list.ts'
import { moment } from '../../base/dates.ts'
import { useAction } from '../../live/action.ts'
import { Button, IconButton } from '../../parts/button.tsx'
import { Dialog } from '../../parts/dialog.tsx'
import { Editor, type EditorHandle } from '../../parts/editor/editor.tsx'
import { ToneLine } from '../../parts/marks.tsx'
import { describe } from '../../parts/quiet.tsx'
import { say } from '../../parts/toast.tsx'
import { compose as words } from '../../words/en/compose.ts'
import { type Doubt, doubtsOf } from './doubts.ts'
import type { DraftWriter } from './draft-writer.ts'
import { AttachButton, Files, useUploads } from './files.tsx'
import { Heads } from './heads.tsx'
import { SendLater } from './send-later.tsx'
import { closeWriting, openSaved, saySent, type Writing, writings } from './state.ts'

/** Every message that is being written. */
export function Composers() {
  return (
    <div class="composers">
      {writings.value.map((writing) => (
        <Composer key={writing.key} writing={writing} />
      ))}
    </div>
  )
}

/** What stands in the way of sending; null for nothing. */
function obstacle({ fields }: DraftWriter, areUploading: boolean): string | null {
  const { to, cc, bcc } = fields.peek()
  const people = [...to, ...cc, ...bcc]
  if (people.length === 0) return words.noRecipient
  const wrong = people.find(({ email }) => !isAddress(email))
  if (wrong !== undefined) return words.wrongRecipient(wrong.email)
  return areUploading ? words.uploadsRun : null
}

/** What a person may not have meant. */
function doubtsIn({ fields, data }: DraftWriter, text: string): Doubt[] {
  return doubtsOf({ fields: fields.peek(), text, contacts: data.contacts.peek(), own: data.mailbox.email })
}

/** What the window does with its message. */
function useComposer({ key, writer }: Writing) {
  const [problem, setProblem] = useState<string | null>(null)
  const [doubts, setDoubts] = useState<readonly Doubt[]>([])
  const sendAt = useRef<string | null>(null)
  const editor = useRef<EditorHandle | null>(null)
  const uploads = useUploads(writer)
  const sending = useAction(async () => {
    const at = sendAt.current
    const id = await writer.send(at)
    closeWriting(key)
    saySent(writer.data, id, at)
    // The lists show it before the stream says so.
    void writer.data.follow().catch(() => null)
  })
  const closing = useAction(async () => {
    if (!writer.isUntouched) await writer.save()
    closeWriting(key)
  })
  const run = () => {
    setDoubts([])
    void sending.run()
  }
  const send = (at: string | null = null) => {
    sendAt.current = at
    const found = obstacle(writer, uploads.areRunning)
    setProblem(found)
    const asked = found === null ? doubtsIn(writer, editor.current?.text() ?? '') : []
    setDoubts(asked)
    if (found === null && asked.length === 0) run()
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLElement>) => {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault()
      send()
    } else if (event.key === 'Escape' && doubts.length === 0) {
      event.stopPropagation()
      void closing.run()
    }
  }
  const error = sending.error ?? closing.error
  const trouble = problem ?? (error === null ? null : sentenceOf(error))
  return { trouble, doubts, setDoubts, editor, uploads, sending, closing, send, run, onKeyDown }
}

type ComposerState = ReturnType<typeof useComposer>

function Composer({ writing }: { writing: Writing }) {
  const { writer } = writing
  const [isSmall, setSmall] = useState(false)
  const state = useComposer(writing)
  const title = writer.fields.value.subject || words.newMessage
  return (
    <section
      class={`composer ${isSmall ? 'small' : ''}`}
      role="dialog"
      aria-label={title}
      onKeyDown={state.onKeyDown}
      onDragOver={(event) => event.preventDefault()}
      onDrop={(event) => {
        if ((event.dataTransfer?.files.length ?? 0) === 0) return
        event.preventDefault()
        state.uploads.add(event.dataTransfer!.files)
      }}
    >
      <div class="composer-title">
        <span class="strong cut">{title}</span>
        <SaveMark writer={writer} />
        <span class="row end">
          <IconButton
            icon={isSmall ? 'maximize-2' : 'minus'}
            label={isSmall ? words.larger : words.smaller}
            onPress={() => setSmall(!isSmall)}
          />
          <IconButton icon="x" label={words.close} onPress={() => void state.closing.run()} />
        </span>
      </div>
      <div class="composer-body" hidden={isSmall}>
        <Body writing={writing} state={state} />
      </div>
      <Doubts state={state} />
    </section>
  )
}

function Body({ writing, state }: { writing: Writing; state: ComposerState }) {
  const { key, writer, asksForRecipients } = writing
  const { trouble, editor, uploads, sending, send } = state
  return (
    <>
      <Heads writer={writer} hasFocus={asksForRecipients} />
      <Conflict writer={writer} windowKey={key} />
      <Editor
        html={writer.html}
        hasFocus={!asksForRecipients}
        onChange={() => writer.textChanged()}
        onReady={(handle) => {
          editor.current = handle
          writer.begin(handle.html)
        }}
      />
      <Below writer={writer} />
      <Files writer={writer} uploads={uploads} />
      {trouble !== null && (
        <div role="alert">
          <ToneLine tone="danger">{trouble}</ToneLine>
        </div>
      )}
      <div class="composer-foot">
        <Button kind="primary" isBusy={sending.isBusy} onPress={() => send()}>
          {words.send}
        </Button>
        <SendLater onTime={send} />
        <AttachButton uploads={uploads} />
        <span class="end">
          <DiscardButton writer={writer} windowKey={key} />
        </span>
      </div>
    </>
  )
}

/** Asks once about what may have been forgotten. */
function Doubts({ state: { doubts, setDoubts, run } }: { state: ComposerState }) {
  const [first] = doubts
  if (first === undefined) return null
  const foot = (
    <>
      <Button onPress={() => setDoubts([])}>{words.ask.back}</Button>
      <Button kind="primary" onPress={run}>
        {words.ask.anyway}
      </Button>
    </>
  )
  return (
    <Dialog title={words.ask[first.kind]} onClose={() => setDoubts([])} foot={foot}>
      {doubts.map((doubt) => (
        <p key={JSON.stringify(doubt)}>{sentenceOfDoubt(doubt)}</p>
      ))}
    </Dialog>
  )
}

function sentenceOfDoubt(doubt: Doubt): string {
  if (doubt.kind === 'domain') return words.ask.domainText(doubt.domain, doubt.known)
  if (doubt.kind === 'strangers') return words.ask.strangersText(doubt.people)
  return doubt.kind === 'noFile' ? words.ask.noFileText : words.ask.noSubjectText
}

const sentenceOf = (error: unknown) => {
  const { title, hint } = describe(toApiError(error))
  return `${title} ${hint}`
}

function SaveMark({ writer }: { writer: DraftWriter }) {
  const state = writer.state.value
  const text =
    state.kind === 'saved'
      ? words.saved(moment(state.at))
      : state.kind === 'saving'
        ? words.saving
        : state.kind === 'failed'
          ? words.notSaved
          : ''
  return (
    <span class="soft meta nowrap" role="status">
      {text}
    </span>
  )
}

/** Says what the server adds below the text, and leaves it out. */
function Below({ writer }: { writer: DraftWriter }) {
  const { quote, forward } = writer.fields.value
  const isQuoted = quote?.mode === 'all'
  if (!isQuoted && forward?.mode !== 'inline') return null
  return (
    <p class="composer-below soft meta">
      {isQuoted ? words.quotedBelow : words.forwardedBelow}{' '}
      {isQuoted && (
        <Button kind="link" onPress={() => writer.change({ quote: null })}>
          {words.removeQuote}
        </Button>
      )}
    </p>
  )
}

/** Another window saved the same draft: the person decides which version stays. */
function Conflict({ writer, windowKey }: { writer: DraftWriter; windowKey: number }) {
  const keep = useAction(() => writer.keepThis())
  const take = useAction(async () => {
    const other = await writer.takeOther()
    closeWriting(windowKey)
    openSaved(writer.data, other)
  })
  if (writer.state.value.kind !== 'conflict') return null
  return (
    <div role="alert">
      <ToneLine tone="warn">
        {words.conflict}{' '}
        <Button kind="link" isBusy={keep.isBusy} onPress={() => void keep.run()}>
          {words.conflictKeep}
        </Button>{' '}
        <Button kind="link" isBusy={take.isBusy} onPress={() => void take.run()}>
          {words.conflictTake}
        </Button>
      </ToneLine>
    </div>
  )
}

function DiscardButton({ writer, windowKey }: { writer: DraftWriter; windowKey: number }) {
  const discard = useAction(async () => {
    await writer.discard()
    closeWriting(windowKey)
    say(words.discarded)
  })
  return <IconButton icon="trash-2" label={words.discard} onPress={() => void discard.run()} />
}
