// Dialogs: the platform's own, with the title as a question and the harmless answer first.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../api/errors.ts'
import { focusTitleIfLost } from '../base/focus.ts'
import { common } from '../words/en/common.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'
import { Form } from './form.tsx'
import { ErrorCard } from './quiet.tsx'

interface DialogProps {
  title: string
  children: ComponentChildren
  /** The buttons at the end. */
  foot?: ComponentChildren
  isWide?: boolean
  error?: ApiError | null
  onClose: () => void
  /** Makes the dialog a form. */
  onSubmit?: () => void
}

/** An open dialog; it is closed by leaving it out. Focus returns to where it was. */
export function Dialog({ title, children, foot, isWide = false, error = null, onClose, onSubmit }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null)
  const id = useId()
  // Preact runs the clean-up of other effects a frame later: the dialog would be gone, the focus nowhere, and the next key lost.
  useLayoutEffect(() => {
    const before = document.activeElement
    const dialog = element.current!
    dialog.showModal()
    return () => {
      dialog.close()
      if (before instanceof HTMLElement) before.focus()
      focusTitleIfLost()
    }
  }, [])
  // What opened it may go together with it.
  useEffect(() => focusTitleIfLost, [])
  const content = (
    <>
      <h2 id={id}>{title}</h2>
      <div class="dialog-body">
        {children}
        {error !== null && <ErrorCard error={error} />}
      </div>
      {foot !== undefined && <div class="dialog-foot">{foot}</div>}
    </>
  )
  return (
    <dialog
      ref={element}
      class={`dialog ${isWide ? 'wide' : ''}`}
      aria-labelledby={id}
      onCancel={(event) => {
        // A file chooser inside says so as well when nothing was chosen.
        if (event.target !== event.currentTarget) return
        event.preventDefault()
        onClose()
      }}
    >
      {onSubmit === undefined ? content : <Form onSubmit={onSubmit}>{content}</Form>}
    </dialog>
  )
}

interface ConfirmProps {
  /** A question. */
  title: string
  /** The consequence, in numbers. */
  children: ComponentChildren
  /** The verb of the button. */
  verb: string
  /** Has to be typed before. */
  typed?: string
  isBusy: boolean
  error: ApiError | null
  onConfirm: () => void
  onClose: () => void
}

/** Asks before something that cannot be undone. */
export function Confirm({ title, children, verb, typed, isBusy, error, onConfirm, onClose }: ConfirmProps) {
  const [text, setText] = useState('')
  const foot = (
    <>
      <Button onPress={onClose}>{common.keepIt}</Button>
      <Button
        kind="danger-sure"
        isBusy={isBusy}
        isOff={typed !== undefined && text.trim() !== typed}
        onPress={onConfirm}
      >
        {verb}
      </Button>
    </>
  )
  return (
    <Dialog title={title} foot={foot} error={error} onClose={onClose}>
      <div>{children}</div>
      {typed !== undefined && <TextField label={common.typeToGoOn(typed)} value={text} onValue={setText} hasFocus />}
    </Dialog>
  )
}

interface FormFootProps {
  /** Of the button that sends the form. */
  verb: string
  action: { isBusy: boolean }
  isOff?: boolean
  onClose: () => void
}

/** The buttons of a dialog that is a form. */
export function FormFoot({ verb, action, isOff = false, onClose }: FormFootProps) {
  return (
    <>
      <Button onPress={onClose}>{common.cancel}</Button>
      <Button kind="primary" submits isBusy={action.isBusy} isOff={isOff}>
        {verb}
      </Button>
    </>
  )
}
